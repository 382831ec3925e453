import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  add,
  clear,
  coreSchema,
  frame,
  prop,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import { jsonLinesOf, linesOf, runUscope } from '../../../test/support/run-cli.js';
import { parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';

let directory: string;
let path: string;
const run = (...args: string[]) => runUscope(args);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-query-'));
  path = join(directory, 'a.uscope');
  const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
    .segment({
      frames: [
        frame(0, set(1, 0, 0, 7), set(1, 0, 1, 1), prop(1, 1, 0), add(3, 0, 0, 5)),
        frame(1000, set(1, 1, 0, 8), set(0, 3, 2, -5), add(3, 0, 0, 1)),
      ],
      strings: ['say "hi"'],
    })
    .segment({ frames: [frame(2000, clear(1, 0), prop(1, 0, 2)), frame(3000, add(3, 0, 0, 2))] });
  await writeFile(path, builder.finalize().bytes);
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope history', () => {
  it('--json prints one object per change', async () => {
    expect(jsonLinesOf(await run('history', path, 'rob', 'entities[3].delta', '--json'))).toEqual([
      {
        t: '0',
        cycle: '0',
        storage: 'core0/rob',
        slot: 0,
        op: 'set',
        field: 'entity_id',
        before: null,
        after: '7',
      },
      {
        t: '0',
        cycle: '0',
        storage: 'core0/rob',
        slot: 0,
        op: 'set',
        field: 'ready',
        before: false,
        after: true,
      },
      {
        t: '1000',
        cycle: '1',
        storage: 'core0/rob',
        slot: 1,
        op: 'set',
        field: 'entity_id',
        before: null,
        after: '8',
      },
      {
        t: '1000',
        cycle: '1',
        storage: 'core0/entities',
        slot: 3,
        op: 'set',
        field: 'delta',
        before: null,
        after: '-5',
      },
      {
        t: '2000',
        cycle: '2',
        storage: 'core0/rob',
        slot: 0,
        op: 'clear',
        before: { entity_id: '7', ready: true },
      },
      { t: '2000', cycle: '2', storage: 'core0/rob', op: 'prop', field: 'head', before: '0', after: '2' },
    ]);
  });

  it('in text has one line per change', async () => {
    expect(linesOf(await run('history', path, 'rob[0]', 'rob.head', 'retired'))).toEqual([
      '0 ps  cycle 0  core0/rob[0].entity_id  free -> 7',
      '0 ps  cycle 0  core0/rob[0].ready  false -> true',
      '0 ps  cycle 0  core0/retired[0].count  0 -> 5',
      '1000 ps  cycle 1  core0/retired[0].count  5 -> 6',
      '2000 ps  cycle 2  core0/rob[0]  cleared (entity_id=7 ready=true)',
      '2000 ps  cycle 2  core0/rob.head  0 -> 2',
      '3000 ps  cycle 3  core0/retired[0].count  6 -> 8',
    ]);
  });

  it('takes ranges of slots and cycles, writes without effect, and a limit', async () => {
    expect(linesOf(await run('history', path, 'rob[1:4]'))).toHaveLength(1);
    expect(linesOf(await run('history', path, 'rob', '--cycles', '1:2'))).toHaveLength(1);
    expect((await run('history', path, 'rob.label')).out).toBe('');
    expect(linesOf(await run('history', path, 'rob.label', '--writes'))).toEqual([
      '0 ps  cycle 0  core0/rob.label  "say \\"hi\\"" -> "say \\"hi\\""',
    ]);
    expect(linesOf(await run('history', path, 'rob', '--limit', '2'))).toHaveLength(2);
  });

  it.each([
    [['rob[4]'], 1, /READER_RANGE: "core0\/rob" has slots 0 to 3, not 4/],
    [['rub'], 2, /READER_NAME.*core0\/rob/],
    [['rob.colour'], 2, /READER_NAME.*"colour".*ready/],
    [['rob[2:2]'], 2, /CLI_USAGE: "rob\[2:2\]" is empty/],
    [['rob[x]'], 2, /CLI_USAGE: "rob\[x\]" names no slots/],
    [[], 2, /CLI_USAGE: missing required argument 'storage'/],
  ])('%j fails with status %d', async (watches, status, message) => {
    const result = await run('history', path, ...watches);
    expect([result.status, result.out]).toEqual([status, '']);
    expect(result.err).toMatch(message);
  });
});

describe('uscope counters', () => {
  it('--json prints values, change, rate, extremes and series', async () => {
    const result = await run('counters', path, '--json', '--series', '2', '--per-cycle', '--cycles', '1:4');
    expect(JSON.parse(result.out)).toEqual({
      counters: [
        {
          counter: 'core0/retired',
          from: '1000',
          to: '4000',
          cycles: 3,
          start: '5',
          end: '8',
          delta: '3',
          rate: 1,
          perCycle: { min: '1', max: '2' },
          series: [
            { from: '1000', to: '3000', delta: '1', value: '6' },
            { from: '3000', to: '4000', delta: '2', value: '8' },
          ],
          source: 'replay',
        },
      ],
    });
  });

  it('in text is a table', async () => {
    expect((await run('counters', path)).out).toBe(
      [
        '0 to 4000 ps, cycles 0 to 3',
        'counter        start  end  change  per cycle',
        'core0/retired      0    8       8          2',
        '',
      ].join('\n'),
    );
    expect(linesOf(await run('counters', path, '--series', '4', '--per-cycle'))[2]).toBe(
      'core0/retired      0    8       8          2      1         5  █▂▁▄',
    );
  });

  it('names what does not exist', async () => {
    expect((await run('counters', path, '--counter', 'rob')).err).toMatch(/READER_NAME.*not a counter/);
    expect((await run('counters', path, '--core', 'core9')).err).toMatch(/READER_NAME.*core0/);
    expect((await run('counters', path, '--cycles', '9:')).err).toMatch(/READER_RANGE/);
    expect(await run('counters', path, '--series', '0')).toMatchObject({ status: 2, out: '' });
  });
});

describe('uscope buffers', () => {
  it('--json prints occupancies weighted with time', async () => {
    const result = await run('buffers', path, '--json', '--series', '2', '--core', 'core0');
    const { buffers } = JSON.parse(result.out);
    expect(buffers.map(({ buffer }: { buffer: string }) => buffer)).toEqual(['core0/rob', 'core0/queue']);
    expect(buffers[0]).toEqual({
      buffer: 'core0/rob',
      slots: 4,
      from: '0',
      to: '4000',
      cycles: 4,
      mean: 1.25,
      min: 1,
      max: 2,
      last: 1,
      histogram: ['0', '3000', '1000'],
      series: [
        { from: '0', to: '2000', mean: 1.5, min: 1, max: 2 },
        { from: '2000', to: '4000', mean: 1, min: 1, max: 1 },
      ],
    });
  });

  it('in text is a table and histograms', async () => {
    const text = await run('buffers', path, '--buffer', 'rob', '--buffer', 'entities', '--series', '4');
    expect(text.out).toBe(
      [
        '0 to 4000 ps, cycles 0 to 3',
        'buffer          slots    mean  least  greatest  last  full',
        'core0/rob           4   1.250      1         2     1  0.0%  ▅█▅▅',
        'core0/entities     12  0.7500      0         1     1  0.0%  ▁███',
        '',
        'core0/rob',
        '  0    0.0%  ',
        `  1   75.0%  ${'█'.repeat(40)}`,
        `  2   25.0%  ${'█'.repeat(13)}▍`,
        '',
        'core0/entities',
        `  0   25.0%  ${'█'.repeat(13)}▍`,
        `  1   75.0%  ${'█'.repeat(40)}`,
        '',
      ].join('\n'),
    );
    expect(linesOf(await run('buffers', path, '--no-histogram'))).toHaveLength(4);
  });

  it('names what has no occupancy', async () => {
    expect((await run('buffers', path, '--buffer', 'retired')).err).toMatch(/READER_NAME.*always occupied/);
  });
});

describe('uscope dump', () => {
  it('leaves out storages and events by name', async () => {
    const storages = (items: unknown[]) => [
      ...new Set((items as { storage: string }[]).map((item) => item.storage)),
    ];
    const dump = (...args: string[]) => run('dump', path, '--json', ...args);
    expect(storages(jsonLinesOf(await dump('--without', 'core0/retired', '--without', 'rob')))).toEqual([
      'core0/entities',
    ]);
    expect(await dump('--without', 'cycles')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/READER_NAME.*"cycles".*core0\/rob/),
    });
  });

  it('prints addresses in hexadecimal, small ones too', async () => {
    const file = join(directory, 'addresses.uscope');
    const frames = [frame(0, set(0, 3, 0, 3), set(0, 3, 1, 16))];
    await writeFile(file, new TraceBuilder({ schema: coreSchema }).segment({ frames }).finalize().bytes);
    expect(linesOf(await run('dump', file))).toEqual([
      '0 ps  set    core0/entities[3].entity_id = 3',
      '0 ps  set    core0/entities[3].pc = 0x10',
    ]);
  });
});

describe('floating-point numbers', () => {
  it('are printed as such where the name of a field says what its bits are; JSON has the bits', async () => {
    const file = join(directory, 'floats.uscope');
    const writer = await TraceWriter.create({
      path: file,
      ...parseSchema(
        'uscope: 1\nclocks: {clk: 1 ns}\nscopes: {top: {clock: clk, storages: {s: {kind: dense, slots: 1, fields: {volts.f64: u64, gain_f32: u32}}}}}\n',
      ),
    });
    writer.beginCycle(0);
    writer.slotSet('top/s', 0, 'volts.f64', 0x3ff8_0000_0000_0000n);
    writer.slotSet('top/s', 0, 'gain_f32', 0xbf00_0000);
    writer.endCycle();
    await writer.close();
    expect((await run('state', file, '--at', '0')).out).toContain('volts.f64=1.5 gain_f32=-0.5');
    expect(linesOf(await run('dump', file))).toEqual([
      '0 ps  set    top/s[0].volts.f64 = 1.5',
      '0 ps  set    top/s[0].gain_f32 = -0.5',
    ]);
    for (const name of ['top/s[0].volts.f64', 'top/s.volts.f64', 's.volts.f64'])
      expect((await run('history', file, name)).out).toMatch(/volts\.f64 .*-> 1\.5$/m);
    expect((await run('dump', file, '--json')).out).toContain('"4609434218613702656"');
  });
});

describe('cycles instead of times', () => {
  it('in dump and events', async () => {
    const times = (items: unknown[]) => [...new Set((items as { t: string }[]).map(({ t }) => t))];
    expect(times(jsonLinesOf(await run('dump', path, '--json', '--cycle', 'core_clk:1')))).toEqual(['1000']);
    expect(times(jsonLinesOf(await run('dump', path, '--json', '--cycles', ':2')))).toEqual(['0', '1000']);
    expect(await run('events', path, '--cycles', 'clk9:1:2')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/READER_NAME.*"clk9".*core_clk/),
    });
  });

  it('in timeline, as many as the first instructions of a slow core take', async () => {
    const slow = join(directory, 'slow.uscope');
    const births = Array.from({ length: 12 }, (_, i) => [
      frame(i * 40_000, set(0, i, 0, i), stage(i, 0)),
      frame(i * 40_000 + 39_000, clear(0, i)),
    ]).flat();
    await writeFile(
      slow,
      new TraceBuilder({ schema: coreSchema }).segment({ frames: births }).finalize().bytes,
    );
    expect((await run('timeline', slow)).out).toMatch(/^core0 {2}cycles 0 to 280 /);
  });

  it('in timeline, of the core or of a clock named', async () => {
    const pipeline = join(directory, 'pipeline.uscope');
    const frames = [
      frame(0, set(0, 3, 0, 3), stage(3, 0)),
      frame(1000, stage(3, 1)),
      frame(2000, clear(0, 3)),
    ];
    await writeFile(pipeline, new TraceBuilder({ schema: coreSchema }).segment({ frames }).finalize().bytes);
    const expected = await run('timeline', pipeline, '--cycles', '1:2');
    expect(expected.out).toMatch(/^core0 {2}cycles 1 to 1 /);
    for (const given of [
      ['--cycle', '1'],
      ['--cycle', 'core_clk:1'],
      ['--cycles', 'core_clk:1:2'],
      ['--from', '1ns', '--to', '2ns'],
    ]) {
      expect([given, (await run('timeline', pipeline, ...given)).out]).toEqual([given, expected.out]);
    }
    expect((await run('timeline', pipeline, '--cycle', 'clk9:1')).err).toMatch(/READER_NAME.*"clk9"/);
    expect((await run('timeline', pipeline, '--cycle', '1', '--last', '2')).err).toMatch(/CLI_USAGE.*twice/);
  });
});
