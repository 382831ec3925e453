/** The demo core counts what it does in hardware counters; what the analysis finds in its trace must be the same. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { lacks } from '../../../../../test/support/needs.js';
import { openTraceFile } from '../../../reader/node.js';
import { analyzePerformance, type PerformanceOptions } from './analyze.js';
import type { CoreReport } from './report.js';

const out = fileURLToPath(new URL('../../../../../verilator-demo/out', import.meta.url));
const file = join(out, 'core0.uscope');
const reportFile = join(out, 'report.json');

describe.skipIf(lacks('a run of the demo (npm run demo)', existsSync(file) && existsSync(reportFile)))(
  'the demo core',
  () => {
    let core: CoreReport;
    let counted: Record<string, number>;

    beforeAll(async () => {
      const { counters } = JSON.parse(readFileSync(reportFile, 'utf8')) as {
        counters: Record<string, string>;
      };
      counted = Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, Number(value)]));
      core = await analyze();
    });

    async function analyze(options: PerformanceOptions = {}): Promise<CoreReport> {
      const trace = await openTraceFile(file);
      try {
        return (await analyzePerformance(trace, { ...options, unit: 'cycles' })).cores[0]!;
      } finally {
        await trace.close();
      }
    }

    it('has the IPC it counts itself', () => {
      expect(core.cycles).toBe(counted.cycles);
      expect(core.instructions).toMatchObject({
        retired: counted.committed_insns,
        fetched: counted.fetched_insns,
        squashed: counted.squashed_insns,
        ipc: counted.committed_insns! / counted.cycles!,
        lost: 0,
      });
      expect(core.instructions.retiredPerCycle[1]).toBe(counted.committed_insns);
    });

    it('flushes as often as it counts, for the same reasons', () => {
      const flushes = Object.fromEntries(
        core.flushes.reasons.map(({ reason, flushes }) => [reason, flushes]),
      );
      expect(core.flushes.flushes).toBe(counted.flushes);
      expect(flushes).toMatchObject({
        mispredict: counted.mispredicts,
        exception: counted.exceptions,
        interrupt: counted.interrupts,
      });
    });

    it('stalls in as many cycles as it counts, by reason', () => {
      const stalls = Object.fromEntries(
        core.stalls.reasons.map(({ reason, cycles }) => [`stalls_${reason}`, cycles]),
      );
      const expected = Object.entries(counted).filter(
        ([name, cycles]) => name.startsWith('stalls_') && cycles > 0,
      );
      expect(expected).toHaveLength(8);
      expect(stalls).toEqual(Object.fromEntries(expected));
    });

    it('has the counters it ends with', () => {
      const ends = Object.fromEntries(core.counters.map(({ counter, end }) => [counter, Number(end)]));
      expect(ends).toEqual(counted);
      for (const { start, end, delta } of core.counters) expect([start, delta]).toEqual([0n, end]);
    });

    it('retires the mix of instructions it counts', () => {
      const mix = Object.fromEntries(core.mix.map(({ kind, count }) => [kind, count]));
      expect(mix).toMatchObject({
        load: counted.loads,
        store: counted.stores,
        branch: counted.branches,
        jump: counted.jumps,
      });
      expect((mix.multiply ?? 0) + (mix.divide ?? 0)).toBe(counted.muldivs);
    });

    it('agrees with every counter it is checked against', () => {
      expect(core.checks.map(({ counter }) => counter)).toEqual(
        expect.arrayContaining(['committed_insns', 'flushes', 'mispredicts', 'stalls_load_use']),
      );
      for (const { counted: count, value } of core.checks) expect(BigInt(count)).toBe(value);
    });

    it('is the sum of its parts', async () => {
      const whole = await analyze({ from: 20_000, to: 60_000 });
      const parts = [
        await analyze({ from: 20_000, to: 20_100 }),
        await analyze({ from: 20_100, to: 43_211 }),
        await analyze({ from: 43_211, to: 60_000 }),
      ];
      const sum = (pick: (one: CoreReport) => number): number =>
        parts.map(pick).reduce((total, value) => total + value, 0);
      expect(sum(({ clockCycles }) => clockCycles)).toBe(whole.clockCycles);
      expect(sum(({ instructions }) => instructions.retired!)).toBe(whole.instructions.retired);
      expect(sum(({ stalls }) => stalls.cycles)).toBe(whole.stalls.cycles);
      whole.stages.forEach(({ latency, squashed }, stage) => {
        expect(sum(({ stages }) => stages[stage]!.latency.count)).toBe(latency.count);
        expect(sum(({ stages }) => stages[stage]!.squashed)).toBe(squashed);
      });
      expect(sum(({ series }) => series!.flushes.reduce((a, b) => a + b, 0))).toBe(whole.flushes.flushes);
    });
  },
);
