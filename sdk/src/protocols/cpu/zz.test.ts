import { it } from 'vitest';
import { openTraceFile } from '../../reader/node.js';
import { findCores, instructions, stalls } from './index.js';
import { disassemble } from './riscv/index.js';

it('x', async () => {
  for (const f of [
    '/work/main/verilator-demo/out/core0.uscope',
    ...['gen', 'c_test_write', 'k2u_small', 'reflex_v0.1'].map(
      (n) => `/work/shared/samples/uscope/${n}.uscope`,
    ),
  ]) {
    const t = await openTraceFile(f);
    const [c] = findCores(t);
    console.log(
      f,
      c.name,
      c.stages.join(),
      c.xlen,
      c.buffers.map((b) => b.name),
      c.counters.map((b) => b.name),
      t.totalTimePs,
      (await t.segments()).length,
    );
    for (const r of [{}, { from: t.totalTimePs / 2n, to: t.totalTimePs / 2n + 6000n }]) {
      const t0 = performance.now();
      let n = 0;
      const ends: Record<string, number> = {};
      let noBirth = 0;
      const show = [];
      for await (const i of instructions(t, c, r)) {
        n++;
        ends[i.end] = (ends[i.end] ?? 0) + 1;
        if (i.birthPs === null) noBirth++;
        if (show.length < 4) show.push(i);
      }
      console.log(n, ends, noBirth, (performance.now() - t0).toFixed(0) + 'ms');
      for (const i of show)
        console.log(
          i.seq,
          i.id,
          i.pc?.toString(16),
          i.bits !== null && disassemble(i.bits, { xlen: 32, pc: i.pc ?? 0n }),
          i.birthPs,
          i.stages.map((s) => s.name + '@' + s.timePs).join(' '),
          i.annotations.map((a) => a.text),
          i.dependencies.map((d) => `${d.on}/${d.seq}`),
          i.flush,
          i.end,
          i.endPs,
        );
    }
  }
}, 600000);
