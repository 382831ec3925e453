/** Every colour of the viewer is declared in one of two files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cssColours } from '../src/model/css-colours.js';
import { contrast, THEMES } from '../src/model/palette.js';

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url));
const DECLARED = ['model/css-colours.ts', 'model/palette.ts'];
/** `#rgb` to `#rrggbbaa` as a value, and functions with numbers. An id such as `#12` is none of them. */
const COLOUR =
  /(?:['"`\s:(,]#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b)|\b(?:rgba?|hsla?|oklch|lab)\(\s*\d/gi;

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.(tsx?|css|html)$/.test(file) && !/\.test\.ts$/.test(file))
  .sort();
const textOf = (file: string): string => readFileSync(join(SOURCE, file), 'utf8');

describe('colours', () => {
  it('are declared nowhere else', () => {
    expect(files.filter((file) => textOf(file).match(COLOUR) !== null)).toEqual(DECLARED);
  });

  it('have a variable for each that a style sheet names', () => {
    const known = new Set(cssColours().match(/--[a-z]+(?=:)/g));
    const used = files
      .filter((file) => file.endsWith('.css'))
      .flatMap((file) => textOf(file).match(/var\(--[a-z]+/g) ?? [])
      .map((text) => text.slice('var('.length));
    expect([...new Set(used)].filter((name) => !known.has(name))).toEqual([]);
  });

  it('of a flush can be read as text', () => {
    for (const theme of Object.values(THEMES))
      for (const surface of [theme.background, theme.gutter])
        expect(contrast(theme.flush, surface)).toBeGreaterThan(4.5);
  });
});
