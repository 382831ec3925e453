import { describe, expect, it } from 'vitest';
import type { RowDetails } from '../model/row.js';
import type { TransactionList } from '../model/transactions.js';
import { longestStay, requestIn, stepsOf } from './journey.js';

/** Two requests of ports 0 and 1; the second is handed to memory. Cycles. */
const LIST = {
  networks: [
    { name: 'noc', stages: [] },
    { name: 'noc/memory', stages: [] },
  ],
  network: Uint8Array.of(0, 0, 0, 1),
  port: Int32Array.of(0, 1, 1, 1),
  birth: Float64Array.of(10, 12, 40, 18),
  end: Float64Array.of(50, 30, Number.NaN, 26),
  continuesAs: Int32Array.of(-1, 3, -1, -1),
  labels: ['fetch_line 0x10', 'read_line 0x80', 'write 0x84', 'read_line 0x80'],
} as unknown as TransactionList;

describe('the way of a request', () => {
  it('begins with the transaction of the core that was longest in flight meanwhile', () => {
    expect(requestIn(LIST, 1, 11_000, 31_000, 1000)).toBe(1);
    expect(requestIn(LIST, 0, 11_000, 31_000, 1000)).toBe(0);
    expect(requestIn(LIST, 1, 31_000, 39_000, 1000)).toBeNull();
    expect(requestIn(LIST, 7, 0, 100_000, 1000)).toBeNull();
  });

  it('leads to memory and back', () => {
    expect(stepsOf(LIST, 1, 1000)).toEqual([
      { what: 'noc port 1: read_line 0x80', place: 'network', fromPs: 12_000, toPs: 30_000 },
      { what: 'noc/memory: read_line 0x80', place: 'network', fromPs: 18_000, toPs: 26_000 },
      { what: 'noc port 1: read_line 0x80, the answer', place: 'network', fromPs: 26_000, toPs: 30_000 },
    ]);
    expect(stepsOf(LIST, 0, 500)).toEqual([
      { what: 'noc port 0: fetch_line 0x10', place: 'network', fromPs: 5000, toPs: 25_000 },
    ]);
  });

  it('starts where the instruction waited longest', () => {
    const stages = [
      { stage: 0, from: 1, to: 3 },
      { stage: 1, from: 3, to: 20 },
      { stage: 2, from: 20, to: null },
    ];
    expect(longestStay({ stages, endCycle: 22 } as unknown as RowDetails)).toBe(stages[1]);
    expect(longestStay({ stages: [], endCycle: null } as unknown as RowDetails)).toBeNull();
  });
});
