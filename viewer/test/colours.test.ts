/** Every colour of the viewer and of the page of `stats` is declared in one place. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cssColours } from '../src/model/css-colours.js';
import { contrast, THEMES } from '../src/model/palette.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Flushes and stalls have their colours from the first, in the viewer and in the page of `stats`. */
const DECLARED = [
  'sdk/src/base/colours.ts',
  'sdk/src/cli/stats/style-sheet.ts',
  'viewer/src/model/css-colours.ts',
  'viewer/src/model/palette.ts',
];
/** `#rgb` to `#rrggbbaa` as a value, and functions with numbers. An id such as `#12` is none of them. */
const COLOUR =
  /(?:['"`\s:(,]#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b)|\b(?:rgba?|hsla?|oklch|lab)\(\s*\d/gi;

const files = ['sdk/src/base', 'sdk/src/cli/stats', 'sdk/src/cli/view', 'viewer/src']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /\.(tsx?|css|html)$/.test(file) && !/\.test\.ts$/.test(file))
  .sort();
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

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
