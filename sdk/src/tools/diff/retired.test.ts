import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffRetired, type RetiredInstruction } from './index.js';

/** A run: addresses in program order, at its own times. */
async function* run(pcs: readonly number[], delay = 1): AsyncGenerator<RetiredInstruction> {
  for (const [index, pc] of pcs.entries()) {
    yield {
      timePs: BigInt(index * delay),
      cycle: null,
      pc: BigInt(pc),
      bits: pc ^ 0x13,
      values: { text: null },
    };
  }
}

const compare = (a: readonly number[], b: readonly number[], more = {}) =>
  diffRetired(
    { name: 'core0', a: run(a), b: run(b, 7) },
    { compare: ['text'], context: 2, stopAtFirst: false, ...more },
  );

const count = (n: number): number[] => Array.from({ length: n }, (_, i) => i * 4);

describe('retired instructions', () => {
  it('are compared whenever they retire', async () => {
    expect(await compare(count(5000), count(5000))).toEqual({
      core: 'core0',
      first: null,
      retiredA: 5000,
      retiredB: 5000,
      same: 5000,
      stretches: 0,
      changed: 0,
      onlyA: 0,
      onlyB: 0,
      aligned: true,
    });
  });

  it('show where they part, what was before and what comes', async () => {
    const b = count(20);
    b[10] = 0xbad;
    const { first, ...rest } = await compare(count(20), b);
    expect(first).toMatchObject({
      core: 'core0',
      index: 10,
      fields: ['pc', 'bits'],
      a: { pc: 40n },
      b: { pc: 0xbadn },
    });
    expect(first?.before.map(({ pc }) => pc)).toEqual([32n, 36n]);
    expect(first?.nextA.map(({ pc }) => pc)).toEqual([40n, 44n, 48n]);
    expect(first?.nextB.map(({ pc }) => pc)).toEqual([0xbadn, 44n, 48n]);
    expect(rest).toMatchObject({ stretches: 1, changed: 1, onlyA: 0, onlyB: 0, same: 19, aligned: true });
  });

  it('come together again behind instructions that only one has', async () => {
    const all = count(1000);
    const without = all.filter((_, i) => !(i >= 300 && i < 340) && i !== 700);
    expect(await compare(all, without)).toMatchObject({
      stretches: 2,
      onlyA: 41,
      onlyB: 0,
      changed: 0,
      same: 959,
    });
    expect(await compare(without, all)).toMatchObject({
      stretches: 2,
      onlyA: 0,
      onlyB: 41,
      changed: 0,
      same: 959,
    });
  });

  it('that only end earlier differ at the end', async () => {
    const report = await compare(count(400), count(100));
    expect(report).toMatchObject({ same: 100, onlyA: 300, aligned: true, retiredA: 400, retiredB: 100 });
    expect(report.first).toMatchObject({ index: 100, fields: [], b: null });
    expect((await compare([], count(3))).first).toMatchObject({ index: 0, a: null });
  });

  it('that never come together again are only counted', async () => {
    const report = await compare(
      count(3000),
      count(2000).map((pc) => pc + 0x10_0000),
    );
    expect(report).toMatchObject({
      same: 0,
      aligned: false,
      retiredA: 3000,
      retiredB: 2000,
      onlyA: 3000,
      onlyB: 2000,
    });
  });

  it('every instruction is counted once, whatever differs', async () => {
    const program = fc.array(fc.nat(5), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(program, program, program, async (head, middle, tail) => {
        const [a, b] = [
          [...head, ...middle, ...tail],
          [...head, ...tail],
        ];
        const { same, changed, onlyA, onlyB, first } = await compare(a, b);
        expect(same + changed + onlyA).toBe(a.length);
        expect(same + changed + onlyB).toBe(b.length);
        const parts = a.findIndex((pc, i) => pc !== b[i]);
        expect(first?.index ?? -1).toBe(parts);
      }),
      { numRuns: 200 },
    );
  });

  it('compare what is recorded by both', async () => {
    const one = async function* (text: string | null): AsyncGenerator<RetiredInstruction> {
      yield { timePs: 0n, cycle: null, pc: 4n, bits: null, values: { text } };
    };
    const report = (a: string | null, b: string | null, names = ['text']) =>
      diffRetired({ name: 'c', a: one(a), b: one(b) }, { compare: names, context: 1, stopAtFirst: true });
    expect((await report('nop', 'add')).first?.fields).toEqual(['text']);
    expect((await report('nop', null)).first).toBeNull();
    expect((await report('nop', 'add', [])).first).toBeNull();
  });
});
