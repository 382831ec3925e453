/** `uscope stats` and `uscope timeline` of several traces and cores. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema, frame, openSession, TraceBuilder } from '../../../../test/support/build-trace.js';
import { event, modelSchema, runModel, STAGES } from '../../../../test/support/pipeline-model.js';
import { jsonLinesOf, runUscope } from '../../../../test/support/run-cli.js';
import { distinctNames } from '../runs/trace-set.js';

let root: string;
const at = (name: string): string => join(root, `${name}.uscope`);

/** A made-up core that runs at random for a number of cycles, of `periodPs` each. */
function built(
  seed: number,
  cycles: number,
  { run = 1, core = 0, periodPs = 500, cores = 1 } = {},
): Uint8Array {
  let state = seed;
  const choose = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const schema = modelSchema({ cores });
  const model = runModel(choose, cycles);
  const id = new Uint8Array(16).fill(run);
  const builder = new TraceBuilder({
    schema: { ...schema, clocks: [{ ...schema.clocks[0], periodPs }] },
    dut: [
      ['cpu.pipeline_stages', STAGES.join(',')],
      ['uscope.run_id', Buffer.from(id).toString('hex')],
      ['uscope.start_time', `2026-01-0${run}T00:00:00.000Z`],
      ['uscope.core', String(core)],
    ],
    session: { ...openSession, runId: id, coreIndex: core },
  });
  const scale = BigInt(periodPs) / 500n;
  const frames = model.frames.map(({ timePs, items }) =>
    frame(timePs * scale, ...items, ...(cores > 1 ? [event(9, 1)] : [])),
  );
  return builder.segment({ frames, strings: model.strings }).finalize().bytes;
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'uscope-side-'));
  mkdirSync(join(root, 'new'));
  writeFileSync(at('a'), built(1, 300));
  writeFileSync(at('b'), built(2, 200, { core: 1 }));
  writeFileSync(at('slow'), built(3, 100, { core: 2, periodPs: 1000 }));
  writeFileSync(at('soc'), built(4, 200, { cores: 2 }));
  writeFileSync(join(root, 'new', 'core10.uscope'), built(5, 50, { run: 3, core: 10 }));
  writeFileSync(join(root, 'new', 'core9.uscope'), built(6, 60, { run: 3, core: 9 }));
  const bare = { ...coreSchema, scopes: coreSchema.scopes.map((scope) => ({ ...scope, protocol: null })) };
  writeFileSync(
    at('none'),
    new TraceBuilder({ schema: bare }).segment({ frames: [frame(0)] }).finalize().bytes,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('uscope stats of several traces', () => {
  it('puts their cores side by side, each as in its own report', async () => {
    const { status, out, err } = await runUscope(['stats', '--all-cores', at('a'), at('b'), at('none')]);
    expect([status, err]).toEqual([0, '']);
    const rows = new Map(
      out.split('\n').map((line) => [line.trim().split(/ {2,}/)[0], line.trim().split(/ {2,}/).slice(1)]),
    );
    expect(out.split('\n')[1].trim().split(/ +/)).toEqual(['a:core0', 'b:core0']);
    for (const [index, name] of ['a', 'b'].entries()) {
      const { out: json } = await runUscope(['stats', at(name), '--json']);
      const [core] = JSON.parse(json).cores;
      expect(rows.get('retired')?.[index]).toBe(String(core.instructions.retired));
      expect(rows.get('IPC')?.[index]).toBe(core.instructions.ipc.toFixed(3));
      const execute = core.stages.find(({ stage }: { stage: string }) => stage === 'execute');
      expect(Number(rows.get('cycles in execute')?.[index])).toBeCloseTo(execute.latency.mean, 1);
      for (const { reason } of core.stalls.reasons)
        expect(rows.get(`stalled by ${reason}`)?.[index]).toMatch(/%$/);
    }
    expect(rows.has('occupied in entities')).toBe(true);
    expect(out).not.toContain('IPC over time');
  });

  it('has a section for each of them too, and one document, one page for all', async () => {
    const text = await runUscope(['stats', at('a'), at('b')]);
    expect(text.out).toMatch(/^cores\n[\s\S]*\na:core0 {2}cycles 0 to [\s\S]*\nb:core0 {2}cycles 0 to /);
    const { files, cores, toPs } = JSON.parse((await runUscope(['stats', '--json', at('a'), at('b')])).out);
    expect(files).toEqual([at('a'), at('b')]);
    expect(cores.map(({ file, core }: { file: string; core: string }) => [file, core])).toEqual([
      [at('a'), 'a:core0'],
      [at('b'), 'b:core0'],
    ]);
    expect(Number(toPs)).toBeGreaterThan(100_000);
    const page = (await runUscope(['stats', '--html', '-', at('a'), at('b')])).out;
    expect(page).toMatch(/<title>2 traces: a\.uscope, b\.uscope: performance</);
    expect(page).toContain('Side by side');
    expect(page).toMatch(/<th[^>]*>a:core0<\/th><th[^>]*>b:core0</);
  });

  it('takes the newest run of a directory, in the order of its cores', async () => {
    const { status, out, err } = await runUscope(['stats', root, '--json']);
    expect(status).toBe(0);
    expect(err).toContain('holds 2 runs; this is the newest, 0303');
    expect(JSON.parse(out).files.map((file: string) => file.slice(root.length))).toEqual([
      '/new/core9.uscope',
      '/new/core10.uscope',
    ]);
  });

  it('says when there is nothing to compare', async () => {
    expect((await runUscope(['stats', at('none'), at('none')])).err).toContain('READER_NAME');
    const unknown = await runUscope(['stats', at('a'), at('b'), '--core', 'core7']);
    expect(unknown).toMatchObject({ status: 2, out: '' });
    expect(unknown.err).toContain('none of the 2 traces has core "core7"');
    mkdirSync(join(root, 'empty'), { recursive: true });
    expect((await runUscope(['stats', join(root, 'empty')])).err).toContain('READER_OPEN');
  });

  it('names cores apart by their files, where their names are the same', () => {
    const of = (file: string, core: string) => ({ file, core });
    expect(
      distinctNames([
        of('x/a.uscope', 'c0'),
        of('y/a.uscope', 'c0'),
        of('b.uscope', 'c0'),
        of('b.uscope', 'c1'),
      ]),
    ).toEqual(['x/a.uscope:c0', 'y/a.uscope:c0', 'b:c0', 'c1']);
  });
});

describe('uscope timeline of several cores', () => {
  /** The rows of one core: the column of its first cycle in the line, and the line. */
  const rowsOf = (out: string, name: string): string[] => {
    const blocks = out.split(/\n(?=\S+\n)/).filter((block) => block.startsWith(`${name}\n`));
    return blocks.flatMap((block) =>
      block.split('\n').filter((line) => /^[ >] +\d+ [0-9a-f]{8} /.test(line)),
    );
  };

  it('shows each of them as by itself, in blocks with one axis', async () => {
    const args = ['--cycles', '10:90', '--width', '90'];
    const { status, out, err } = await runUscope(['timeline', at('a'), at('b'), ...args]);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^a:core0, b:core0 {2}cycles 10 to 89 {2}\(500 ps each\)\nF fetch/);
    for (const name of ['a', 'b']) {
      const one = (await runUscope(['timeline', at(name), ...args])).out;
      const rows = one.split('\n').filter((line) => /^[ >] +\d+ [0-9a-f]{8} /.test(line));
      expect(rowsOf(out, `${name}:core0`)).toEqual(rows);
    }
    const rulers = out.split('\n').filter((line) => line.includes('instruction '));
    expect(rulers.length % 2).toBe(0);
    for (let i = 0; i < rulers.length; i += 2) expect(rulers[i]).toBe(rulers[i + 1]);
  });

  it('aligns clocks of different speed by time', async () => {
    const both = await runUscope(['timeline', at('slow'), at('a'), '--cycles', '5:15', '--width', '120']);
    expect(both.out).toMatch(
      /^slow:core0, a:core0 {2}cycles 10 to 29 {2}\(500 ps each\)\nslow:core0: core_clk 1000 ps\n/,
    );
    const slow = (await runUscope(['timeline', at('slow'), '--cycles', '5:15', '--width', '120'])).out;
    const alone = slow.split('\n').filter((line) => /^[ >] +\d+ [0-9a-f]{8} /.test(line));
    const rows = rowsOf(both.out, 'slow:core0');
    expect(rows).toHaveLength(alone.length);
    const cellsOf = (text: string, line: string, count: number): string => {
      const ruler = text.split('\n').find((candidate) => candidate.includes(' instruction '))!;
      return line.slice(ruler.indexOf('|')).slice(0, count).padEnd(count);
    };
    let compared = 0;
    for (const [index, row] of rows.entries()) {
      const wide = cellsOf(both.out, row, 20);
      // The reason follows the mark of its end.
      const [narrow] = cellsOf(slow, alone[index], 10).split(/[x|!]/);
      // A cycle of the slow clock takes two columns; in the second, a stage entered is held.
      for (const [cycle, cell] of [...narrow].entries()) {
        if (!/[FDEWfdew]/.test(cell)) continue;
        // (Or retired: the mark of an instruction that ends in the cycle of its last stage directly follows it.)
        expect([cell + cell.toLowerCase(), `${cell}|`]).toContain(wide.slice(2 * cycle, 2 * cycle + 2));
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(10);
  });

  it('of one trace with --all-cores says which of them does nothing', async () => {
    const { status, out, err } = await runUscope(['timeline', at('soc'), '--all-cores', '--cycles', '0:30']);
    expect(status).toBe(0);
    expect(out).toMatch(/^core0, core1 {2}cycles 0 to 29/);
    expect(out).toMatch(/\ncore1 {2}no instruction in flight\n/);
    expect(err).toContain('core1 has no instruction in flight in cycles 0 to 29');
  });

  it('continues with the others when one trace has ended', async () => {
    const { status, out, err } = await runUscope(['timeline', at('a'), at('slow'), '--cycles', '250:260']);
    expect(status).toBe(0);
    expect(rowsOf(out, 'a:core0').length).toBeGreaterThan(0);
    expect(err).toContain('slow:core0 has no instruction in flight');
  });

  it('is one object per instruction for programs, with times that compare', async () => {
    const result = await runUscope(['timeline', at('a'), at('slow'), '--cycles', '0:40', '--json']);
    const objects = jsonLinesOf(result) as { file: string; lane: string; born: string; bornPs: string }[];
    expect(new Set(objects.map(({ lane }) => lane))).toEqual(new Set(['a:core0', 'slow:core0']));
    for (const { file, born, bornPs } of objects.filter(({ bornPs }) => bornPs !== null)) {
      expect(Number(bornPs) / (file === at('slow') ? 1000 : 500)).toBe(Number(born));
    }
    expect(Math.max(...objects.map(({ bornPs }) => Number(bornPs)))).toBeLessThan(20_000);
  });
});
