/** Items come out by their keys, those of one key in the order in which they came, in memory and through the disk. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ExternalSorter } from './sorter.js';

const word = fc.oneof(fc.nat(3), fc.nat(0xffff_ffff), fc.constantFrom(0, 0xffff, 0x1_0000, 0xffff_ffff));
const items = fc.array(fc.record({ hi: word, lo: word, size: fc.nat(5) }), { maxLength: 200 });

it('by both words of the key', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-sorter-'));
  const path = join(directory, 'runs');
  try {
    await fc.assert(
      fc.asyncProperty(items, fc.constantFrom(40, 300, 1_000_000), async (list, limit) => {
        const sorter = new ExternalSorter(path, limit);
        for (const [index, { hi, lo, size }] of list.entries()) {
          const at = sorter.add(hi, lo, 1 + size);
          sorter.target[at] = index;
          sorter.target.fill(index, at + 1, at + 1 + size);
          if (sorter.isFull) await sorter.spill();
        }
        const found: (readonly [number, number, number, number])[] = [];
        for await (const batch of sorter.sorted()) {
          for (let i = 0; i < batch.count; i++) {
            const at = batch.at(i);
            const index = batch.words[at]!;
            const { size } = list[index]!;
            expect([...batch.words.subarray(at, at + 1 + size)]).toEqual(new Array(1 + size).fill(index));
            found.push([batch.keyHi(i), batch.keyLo(i), index, size]);
          }
        }
        await sorter.close();
        expect(existsSync(path)).toBe(false);
        const expected = list.map(({ hi, lo, size }, index) => [hi, lo, index, size] as const);
        expect(found).toEqual(expected.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]));
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
