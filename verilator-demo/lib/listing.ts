/** objdump's listings next to the program images: address -> instruction word and its text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO } from './simulator.js';

export function readListing(path: string): Map<string, { word: number; text: string }> {
  const lines = readFileSync(join(DEMO, path), 'utf8').split('\n');
  const found = lines.flatMap((line): [string, { word: number; text: string }][] => {
    const match = /^([0-9a-f]{8}):\t([0-9a-f]{8}) +\t(.*)$/.exec(line);
    if (!match) return [];
    const [, address, word, rest] = match as unknown as [string, string, string, string];
    const text = rest
      .replace(/ [#<].*$/, '')
      .replace('\t', ' ')
      .trim();
    return [[address, { word: Number.parseInt(word, 16), text }]];
  });
  return new Map(found);
}
