/** Every sample of real flux files against the listing that an independent decoder made of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../reader/index.js';
import { FluxFile, FluxTag, listEntry } from './index.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/flux/', import.meta.url));
const isPresent = existsSync(SAMPLES);
const names = isPresent ? readdirSync(SAMPLES).filter((name) => name.endsWith('.flux')) : [];
const textOf = (name: string, kind: string): string =>
  readFileSync(SAMPLES + name.replace('.flux', `.${kind}.txt`), 'utf8');

async function list(name: string): Promise<string[]> {
  const lines: string[] = [];
  const stream = await new FluxFile(memorySource(readFileSync(SAMPLES + name), name)).stream();
  while (await stream.more()) {
    while (stream.next()) {
      const { cursor } = stream;
      lines.push('  '.repeat(cursor.depth) + listEntry(cursor, stream.sectionOrder));
    }
  }
  return lines;
}

describe.skipIf(!isPresent)('every sample', () => {
  it.each(names)('%s reads as listed, without leftovers', async (name) => {
    const expected = textOf(name, 'dump')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      // The listing shows the missing base of version 4 as -1, and the missing parent as another.
      .map((line) => line.replace(/base=-1$/, 'base=0').trimEnd());
    const lines = await list(name);
    expect(lines.slice(0, 1000)).toEqual(expected.slice(0, 1000));
    expect(lines.findIndex((line, i) => line !== expected[i])).toBe(-1);
    expect(lines.length).toBe(expected.length);
  });
});
void FluxTag;
