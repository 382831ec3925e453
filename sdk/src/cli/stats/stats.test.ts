import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { add, coreSchema, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { lacks } from '../../../../test/support/needs.js';
import { event, modelSchema, runModel, STAGES } from '../../../../test/support/pipeline-model.js';
import { type CliResult, runUscope } from '../../../../test/support/run-cli.js';
import type { Schema } from '../../format/types.js';
import { decimal, percent, resample } from '../common/number-format.js';
import { html, scriptData, tableOf } from './markup.js';

const run = (...args: string[]): Promise<CliResult> => runUscope(['stats', ...args]);

const CYCLES = 2000;
const HOSTILE = '</script><img src=x onerror=alert(1)>\u001b[31m';

function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** A core that runs at random; with `cores` 2 the second one only stalls. */
function built(schema: Schema, { cores = 1, name = 'made-up' } = {}): Uint8Array {
  const model = runModel(generator(11), CYCLES);
  const builder = new TraceBuilder({
    schema,
    compression: 'lz4',
    dut: [
      ['dut_name', name],
      ['cpu.isa', 'RV32I'],
      ['cpu.pipeline_stages', STAGES.join(',')],
    ],
  });
  const frames = model.frames.map(({ timePs, items }) =>
    frame(timePs, ...items, add(1, 0, 0, 1), ...(cores > 1 ? [event(9, 1)] : [])),
  );
  for (let i = 0; i < frames.length; i += 300) builder.segment({ frames: frames.slice(i, i + 300) });
  return builder.finalize().bytes;
}

function renamed(schema: Schema, name: string): Schema {
  return {
    ...schema,
    enums: schema.enums.map((one) => ({
      ...one,
      values: one.values.map((value) => ({ ...value, name: name + value.name })),
    })),
  };
}

describe('uscope stats', () => {
  let directory: string;
  const path = (name: string): string => join(directory, `${name}.uscope`);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'uscope-stats-'));
    await writeFile(path('one'), built(modelSchema()));
    await writeFile(path('two'), built(modelSchema({ cores: 2 }), { cores: 2 }));
    await writeFile(path('hostile'), built(renamed(modelSchema(), HOSTILE), { name: HOSTILE }));
    const bare: Schema = {
      ...modelSchema(),
      scopes: modelSchema().scopes.map((scope) => ({ ...scope, protocol: null })),
    };
    await writeFile(
      path('none'),
      new TraceBuilder({ schema: bare }).segment({ frames: [frame(0)] }).finalize().bytes,
    );
    const timeless = { ...coreSchema, clocks: [{ name: 'core_clk', clockId: 0, periodPs: 0 }] };
    const one = [frame(0, set(0, 0, 0, 0))];
    await writeFile(
      path('timeless'),
      new TraceBuilder({ schema: timeless }).segment({ frames: one }).finalize().bytes,
    );
    await writeFile(path('empty'), new TraceBuilder({ schema: coreSchema }).finalize().bytes);
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  interface Json {
    readonly file: string;
    readonly fromPs: string;
    readonly toPs: string;
    readonly cores: readonly {
      readonly core: string;
      readonly fromCycle: string;
      readonly clockCycles: number;
      readonly instructions: { readonly retired: number; readonly ipc: number };
      readonly stalls: { readonly cycles: number };
      readonly counters: readonly { readonly counter: string; readonly delta: string }[];
      readonly series: { readonly ipc: readonly number[] } | null;
    }[];
  }

  async function json(...args: string[]): Promise<Json> {
    const { status, out, err } = await run(...args, '--json');
    expect([status, err]).toEqual([0, '']);
    return JSON.parse(out) as Json;
  }

  it('prints every figure as a table, without colours in a pipe', async () => {
    const { status, out, err } = await run(path('one'));
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^core0 {2}cycles 0 to \d+ {2}\(\d+ cycles of core_clk 500 ps, RV32I\)/);
    for (const title of [
      'IPC over time',
      'retired per cycle',
      'flushes',
      'stalls',
      'stage latency in cycles',
      'occupied slots',
      'retired instructions',
      'counters',
    ]) {
      expect(out).toMatch(new RegExp(`^${title}`, 'm'));
    }
    expect(out).not.toContain('\x1b');
  });

  it('says the same as its JSON', async () => {
    const { out } = await run(path('one'));
    const [core] = (await json(path('one'))).cores;
    expect(out).toContain(`IPC                  ${core!.instructions.ipc.toFixed(3)}`);
    expect(out).toContain(`${core!.instructions.retired} retired in ${core!.clockCycles} cycles`);
  });

  it('has colours where asked', async () => {
    expect((await run(path('one'), '--color')).out).toContain('\x1b[1mcore0');
  });

  it('takes a range in cycles or time, and only that', async () => {
    const byCycle = await json(path('one'), '--cycles', '100:300');
    expect(byCycle.cores[0]).toMatchObject({ fromCycle: '100', clockCycles: 200 });
    const byTime = await json(path('one'), '--from', '50ns', '--to', '150ns');
    expect(byTime).toEqual(byCycle);
    const whole = await json(path('one'));
    const before = await json(path('one'), '--cycles', ':100');
    const after = await json(path('one'), '--cycles', '300:');
    const retired = [before, byCycle, after].map(({ cores }) => cores[0]!.instructions.retired);
    expect(retired.reduce((a, b) => a + b)).toBe(whole.cores[0]!.instructions.retired);
  });

  it('has as many intervals as asked for, at most', async () => {
    expect((await json(path('one'), '--points', '0')).cores[0]!.series).toBeNull();
    expect((await json(path('one'), '--points', '10')).cores[0]!.series!.ipc).toHaveLength(10);
  });

  it('puts several cores side by side, each with its section', async () => {
    const { out } = await run(path('two'));
    expect(out).toMatch(/^cores\n {2} +core0 +core1\n/);
    expect(out).toMatch(/^core1 {2}cycles/m);
    const report = await json(path('two'));
    expect(report.cores.map(({ core }) => core)).toEqual(['core0', 'core1']);
    expect(report.cores[1]!.instructions.retired).toBe(0);
    expect(report.cores[1]!.stalls.cycles).toBeGreaterThan(CYCLES / 2);
    const only = await json(path('two'), '--core', 'core1');
    expect(only.cores).toEqual([report.cores[1]]);
  });

  it('says little of a trace without frames, and does not fail', async () => {
    const { status, out } = await run(path('empty'));
    expect(status).toBe(0);
    expect(out).toMatch(/IPC +-/);
  });

  it.each([
    ['one', '--cycles 9:5', 2, /CLI_USAGE.*empty/],
    ['one', '--cycles 5:9 --from 3', 2, /CLI_USAGE.*twice/],
    ['one', '--points many', 2, /CLI_USAGE.*--points/],
    ['one', '--json --html -', 2, /CLI_USAGE.*--html/],
    ['one', '--core core9', 2, /READER_NAME.*core0/],
    ['one', '--cycles 99999:', 1, /READER_RANGE/],
    ['one', '--html /nowhere/to/be/found.html', 1, /WRITER_DIRECTORY.*found\.html/],
    ['none', '', 2, /READER_NAME.*no core/],
    ['timeless', '', 1, /READER_NO_CYCLES/],
  ])('%s %s ends with status %i', async (name, args, status, message) => {
    const result = await run(path(name), ...args.split(' ').filter((word) => word !== ''));
    expect(result).toMatchObject({ status, out: '' });
    expect(result.err).toMatch(message);
  });

  describe('--html', () => {
    it('writes a page that loads nothing', async () => {
      const target = join(directory, 'report.html');
      const { status, out, err } = await run(path('two'), '--html', target);
      expect([status, out]).toEqual([0, '']);
      expect(err).toContain(`wrote ${target}`);
      const page = readFileSync(target, 'utf8');
      expect(page).toMatch(/^<!DOCTYPE html>/);
      expect(page).toContain('var uPlot=');
      expect(page).toContain('.u-legend');
      expect(page).toContain('MIT License');
      expect(page).not.toMatch(/<(link|img|iframe|script)[^>]+(src|href)=/);
      for (const id of ['summary', 'core0', 'core1']) expect(page).toContain(`id="${id}"`);
    });

    it('goes to stdout for -', async () => {
      const { status, out } = await run(path('one'), '--html', '-');
      expect(status).toBe(0);
      expect(out).toMatch(/^<!DOCTYPE html>[\s\S]+<\/html>\n$/);
    });

    it('shows what a trace calls things as text, whatever it is', async () => {
      const { out } = await run(path('hostile'), '--html', '-');
      expect(out).not.toContain('<img');
      expect(out).not.toContain('\x1b');
      expect(out).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;');
      const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(out)![1]!;
      const [core] = JSON.parse(data) as { stalls: { name: string }[] }[];
      expect(core!.stalls[0]!.name).toContain('</script><img');
    });

    it('keeps control characters of names from the terminal too', async () => {
      expect((await run(path('hostile'))).out).not.toContain('\x1b');
    });
  });
});

describe('figures', () => {
  it.each([
    [null, '-'],
    [0, '0'],
    [3, '3'],
    [1.286, '1.29'],
    [123.456, '123.5'],
    [12345.6, '12346'],
    [0.00423, '0.0042'],
  ])('%s is written %s', (value, text) => expect(decimal(value)).toBe(text));

  it.each([
    [null, '-'],
    [0, '0.0%'],
    [0.5, '50.0%'],
    [0.0055, '0.55%'],
    [0.00001, '<0.01%'],
    [1, '100.0%'],
  ])('the share %s is %s', (share, text) => expect(percent(share)).toBe(text));

  it('are resampled by means of neighbours', () => {
    expect(resample([1, 2], 4)).toEqual([1, 2]);
    expect(resample([1, 3, 5, 7], 2)).toEqual([2, 6]);
    expect(resample([1, 2, 6], 2)).toEqual([1, 4]);
  });
});

describe('markup', () => {
  it('escapes text, and only text', () => {
    expect(html`<p title="${'"\''}">${'a<b>&c\u0000'} ${html`<b>${1}</b>`}</p>`.html).toBe(
      '<p title="&quot;&#39;">a&lt;b&gt;&amp;c\\x00 <b>1</b></p>',
    );
  });

  it('holds no tag in data for scripts', () => {
    const value = { text: '</script><!-- & \u2028' };
    expect(scriptData(value)).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(scriptData(value))).toEqual(value);
  });

  it('is nothing for a table without rows', () => {
    expect(tableOf([{ name: 'a' }], []).html).toBe('');
  });
});

const demo = fileURLToPath(new URL('../../../../verilator-demo/out/core0.uscope', import.meta.url));

describe.skipIf(lacks('a run of the demo (npm run demo)', existsSync(demo)))('the demo', () => {
  it('agrees with its own counters', async () => {
    const { status, out } = await run(demo, '--points', '0', '--cycles', '150000:190000');
    expect(status).toBe(0);
    expect(out).toMatch(/checked against the counters of the core {2}(\d+) of \1 agree/);
  });
});
