import { expect, it } from 'vitest';
import { type Place, patternOf, profileLines } from './profile.js';

const PLACES: Readonly<Record<string, Place>> = {
  '0': { function: 'main', line: 'a.c:1' },
  '4': { function: 'main', line: 'a.c:2' },
  '8': { function: 'loop', line: 'a.c:2' },
  '64': { function: null, line: null },
};
const answer = {
  pcs: BigUint64Array.of(8n, 0n, 4n, 64n),
  texts: ['lw a0,0(sp)', 'nop', '', ''],
  counts: Float64Array.of(10, 1, 2, 3),
  cycles: Float64Array.of(30, 5, 6, 100),
  reasons: ['hit', 'miss'],
  stalls: Float64Array.of(0, 20, 0, 1, 2, 0, 0, 0),
};
const linesOf = (grouping: 'function' | 'line' | 'address', filter = '') =>
  profileLines(answer, (pc) => PLACES[String(pc)]!, grouping, filter);

it('sums up functions, lines and addresses, the most cycles first', () => {
  expect(linesOf('function').map(({ name, count, cycles }) => [name, count, cycles])).toEqual([
    ['no function', 3, 100],
    ['loop', 10, 30],
    ['main', 3, 11],
  ]);
  expect(linesOf('function')[2]).toMatchObject({
    stalls: [
      { reason: 'hit', cycles: 2 },
      { reason: 'miss', cycles: 1 },
    ],
    pcs: [0n, 4n],
  });
  expect(linesOf('line').map(({ name, cycles }) => [name, cycles])).toEqual([
    ['no line, no function', 100],
    ['a.c:2', 36],
    ['a.c:1', 5],
  ]);
  expect(linesOf('address').map(({ name, of }) => [name, of])).toEqual([
    ['0x00000040', 'no function'],
    ['0x00000008', 'lw a0,0(sp) in loop'],
    ['0x00000004', 'main'],
    ['0x00000000', 'nop in main'],
  ]);
});

it('takes only functions whose names have what is asked for', () => {
  expect(linesOf('line', ' MAI ').map(({ name, cycles }) => [name, cycles])).toEqual([
    ['a.c:2', 6],
    ['a.c:1', 5],
  ]);
  expect(linesOf('function', 'none')).toEqual([]);
});

it('finds exactly the instructions of a line', () => {
  const pattern = (...pcs: bigint[]): string => patternOf({ pcs });
  expect(pattern()).toBe('');
  expect(pattern(4n)).toBe('pc:0x00000004');
  expect(pattern(4n, 6n, 10n, 64n, 0x8000_0000_0000n)).toBe(
    'pc:0x00000004-0x0000000a,0x00000040,0x800000000000',
  );
  const many = Array.from({ length: 1000 }, (_, at) => BigInt(at * 64));
  expect(patternOf({ pcs: many }).length).toBeLessThan(4096);
});
