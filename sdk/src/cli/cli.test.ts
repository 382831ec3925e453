import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  clear,
  coreSchema,
  frame,
  prop,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import { type CliResult, jsonLinesOf, linesOf, runUscope } from '../../../test/support/run-cli.js';
import { parseSchema } from '../schema/index.js';

const run = (...args: string[]): Promise<CliResult> => runUscope(args);

function build(): TraceBuilder {
  return new TraceBuilder({ schema: coreSchema, compression: 'lz4', dut: [['dut_name', 'tiny']] })
    .segment({
      frames: [
        frame(0, set(0, 3, 0, 3), set(0, 3, 1, 0x8000_0000_0000_0001n), set(0, 3, 2, -5), set(1, 0, 1, 1)),
        frame(1000, stage(3, 0), stage(3, 9), annotate(3, 0), annotate(3, 7)),
      ],
      strings: ['say "hi"'],
    })
    .segment({
      frames: [frame(2000, prop(1, 0, 2), prop(1, 1, 0), add(3, 0, 0, 7)), frame(3000, clear(0, 3))],
    });
}

let directory: string;
let path: string;
let livePath: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-cli-'));
  path = join(directory, 'a.uscope');
  livePath = join(directory, 'live.uscope');
  await writeFile(path, build().finalize().bytes);
  await writeFile(livePath, build().bytes);
});
afterAll(() => rm(directory, { recursive: true }));

describe('uscope', () => {
  it('prints its version', async () => {
    expect(await run('--version')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it('prints help, for all and for a verb', async () => {
    expect((await run('--help')).out).toMatch(/events, by type/);
    expect((await run('help', 'dump')).out).toMatch(/--jsonl/);
    expect((await run('dump', '--help')).status).toBe(0);
  });

  it.each([
    [['frobnicate'], /^uscope: CLI_USAGE: there is no verb "frobnicate"; "uscope --help" lists them\n$/],
    [['inof', 'x'], /CLI_USAGE: there is no verb "inof"; .* Did you mean "info"\?\n$/],
    [['foo', '--help'], /CLI_USAGE: there is no verb "foo"/],
    [['help', 'foo'], /CLI_USAGE: there is no verb "foo"/],
    [
      ['run', '--trace', './sim'],
      /CLI_USAGE: unknown option '--trace'\n\(options of the simulator follow its name: .* -- /,
    ],
    [[], /Usage/],
    [['dump'], /CLI_USAGE: missing required argument 'file'/],
    [['dump', 'x', 'y'], /CLI_USAGE.*too many arguments/],
    [['info', '--colour', 'x'], /CLI_USAGE: unknown option '--colour'/],
    [['stats', 'x', '--jobs', '2'], /CLI_USAGE: unknown option '--jobs'\n\(leave --jobs out: "uscope index"/],
    [['buffers', 'x', '--jobs=2'], /CLI_USAGE: unknown option '--jobs=2'\n\(leave --jobs out/],
    [['counters', '--jobs', '2', 'x'], /CLI_USAGE: unknown option '--jobs'\n\(leave --jobs out/],
    [['dump', 'x', '--from', 'soon'], /CLI_USAGE.*"soon" is not a time/],
    [['state', 'x'], /CLI_USAGE.*--at TIME or --cycle/],
    [['events', 'x', '--limit', 'few'], /CLI_USAGE.*"few"/],
    [['events', 'x', '--where', 'stage'], /CLI_USAGE.*field=value/],
  ])('%j is wrong usage: status 2', async (args, message) => {
    const result = await run(...args);
    expect(result.status).toBe(2);
    expect(result.out).toBe('');
    expect(result.err).toMatch(message);
  });

  it('names file, code and offset of a failure: status 1', async () => {
    const missing = await run('info', join(directory, 'none.uscope'));
    expect(missing).toMatchObject({ status: 1, out: '' });
    expect(missing.err).toMatch(/^uscope: READER_OPEN: .*\(.*none\.uscope\)\n$/);
    const bad = join(directory, 'bad.uscope');
    await writeFile(bad, build().finalize().bytes.slice(0, 700));
    expect((await run('dump', bad)).err).toMatch(
      /^uscope: FORMAT_TRUNCATED: .*\(.*bad\.uscope, offset \d+\)\n$/,
    );
  });
});

describe('uscope info', () => {
  it('--json has exactly these keys', async () => {
    const result = await run('info', path, '--json');
    const info = JSON.parse(result.out) as Record<string, unknown>;
    expect(Object.keys(info)).toEqual([
      'version',
      'flags',
      'totalTimePs',
      'segments',
      'frames',
      'items',
      'session',
      'dut',
      'clocks',
      'scopes',
      'storages',
      'events',
      'warnings',
    ]);
    expect(info).toMatchObject({
      version: '0.3',
      flags: { complete: true, compressed: true, strings: true, compression: 'lz4', interleaved: true },
      totalTimePs: '3000',
      segments: 2,
      frames: 4,
      items: null,
      session: { status: 'closed', coreIndex: 0, lost: '0', rejected: '0' },
      dut: { dut_name: 'tiny' },
      clocks: [{ id: 0, name: 'core_clk', periodPs: 1000 }],
    });
    expect((info.scopes as unknown[])[1]).toEqual({
      id: 1,
      name: 'core0',
      path: 'core0',
      parent: 0,
      protocol: 'cpu',
      clock: 'core_clk',
    });
    expect((info.storages as unknown[])[1]).toEqual({
      id: 1,
      name: 'core0/rob',
      scope: 1,
      slots: 4,
      sparse: true,
      buffer: true,
      fields: [
        { name: 'entity_id', type: 'u32' },
        { name: 'ready', type: 'bool' },
      ],
      properties: [
        { name: 'head', type: 'u16', role: 'head', pair: 1 },
        { name: 'label', type: 'string' },
      ],
    });
  });

  it('counts items when asked, also in a live trace', async () => {
    const info = JSON.parse((await run('info', livePath, '--json', '--count')).out);
    expect(info).toMatchObject({
      items: 12,
      totalTimePs: '3001',
      flags: { complete: false },
      session: { status: 'open' },
    });
  });

  it('in text tells the same', async () => {
    expect((await run('info', path, '--count')).out).toMatch(
      /^state +complete\nsession +closed\n.*cycle 3 core_clk.*^items +12$/ms,
    );
  });
});

describe('uscope schema', () => {
  it('--json has enums with their labels', async () => {
    const schema = JSON.parse((await run('schema', path, '--json')).out);
    expect(schema.enums).toEqual([
      {
        name: 'pipeline_stage',
        values: [
          { value: 0, name: 'fetch' },
          { value: 1, name: 'execute' },
        ],
      },
    ]);
    expect(schema.events[0].fields[1]).toEqual({ name: 'stage', type: 'enum', enum: 'pipeline_stage' });
  });

  it('--yaml gives a text that writers accept', async () => {
    const { schema, dut } = parseSchema((await run('schema', path, '--yaml')).out);
    expect(schema.storages.map((storage) => storage.name)).toEqual(
      coreSchema.storages.map((storage) => storage.name),
    );
    expect(dut).toEqual([['dut_name', 'tiny']]);
  });

  it('by default is a tree', async () => {
    expect((await run('schema', path)).out).toMatch(
      /^scope root\n {2}scope core0 \(protocol cpu, clock core_clk\)\n {4}storage entities\[12\] sparse$/m,
    );
  });
});

describe('uscope dump', () => {
  it('--jsonl prints one object per item, in file order', async () => {
    expect(jsonLinesOf(await run('dump', path, '--jsonl'))).toEqual([
      { t: '0', op: 'set', storage: 'core0/entities', slot: 3, field: 'entity_id', value: '3' },
      { t: '0', op: 'set', storage: 'core0/entities', slot: 3, field: 'pc', value: '9223372036854775809' },
      { t: '0', op: 'set', storage: 'core0/entities', slot: 3, field: 'delta', value: '-5' },
      { t: '0', op: 'set', storage: 'core0/rob', slot: 0, field: 'ready', value: true },
      { t: '1000', op: 'event', event: 'core0/stage_transition', fields: { entity_id: '3', stage: 'fetch' } },
      { t: '1000', op: 'event', event: 'core0/stage_transition', fields: { entity_id: '3', stage: '9' } },
      { t: '1000', op: 'event', event: 'core0/annotate', fields: { entity_id: '3', text: 'say "hi"' } },
      { t: '1000', op: 'event', event: 'core0/annotate', fields: { entity_id: '3', text: '#7' } },
      { t: '2000', op: 'prop', storage: 'core0/rob', field: 'head', value: '2' },
      { t: '2000', op: 'prop', storage: 'core0/rob', field: 'label', value: 'say "hi"' },
      { t: '2000', op: 'add', storage: 'core0/retired', slot: 0, field: 'count', value: '7' },
      { t: '3000', op: 'clear', storage: 'core0/entities', slot: 3 },
    ]);
  });

  it('of a live trace is the same', async () => {
    expect((await run('dump', livePath, '--json')).out).toBe((await run('dump', path, '--jsonl')).out);
  });

  it('of a range: start inclusive, end exclusive', async () => {
    const times = jsonLinesOf(await run('dump', path, '--jsonl', '--from', '1ns', '--to', '3ns')).map(
      (item) => (item as { t: string }).t,
    );
    expect([...new Set(times)]).toEqual(['1000', '2000']);
  });

  it('in text has one line per item', async () => {
    const text = linesOf(await run('dump', path));
    expect(text).toHaveLength(12);
    expect(text[1]).toBe('0 ps  set    core0/entities[3].pc = 0x8000000000000001');
    expect(text[2]).toBe('0 ps  set    core0/entities[3].delta = -5');
    expect(text[6]).toBe('1000 ps  event  core0/annotate entity_id=3 text="say \\"hi\\""');
  });

  it('prints everything before damage, then the error', async () => {
    const damaged = join(directory, 'damaged.uscope');
    const builder = build().finalize();
    const bytes = builder.bytes.slice();
    bytes[builder.offsets[1] + 70] ^= 1;
    await writeFile(damaged, bytes);
    const result = await run('dump', damaged, '--jsonl');
    expect([result.status, linesOf(result).length]).toEqual([1, 8]);
    expect(result.err).toMatch(/FORMAT_CHECKSUM/);
  });
});

describe('uscope events', () => {
  it('selects by type, field and number', async () => {
    expect(jsonLinesOf(await run('events', path, '--json', '--event', 'stage_transition'))).toHaveLength(2);
    expect(jsonLinesOf(await run('events', path, '--json', '--where', 'stage=fetch'))).toHaveLength(1);
    expect(
      jsonLinesOf(await run('events', path, '--json', '--where', 'stage=9', '--where', 'entity_id=0x3')),
    ).toHaveLength(1);
    expect(linesOf(await run('events', path, '--limit', '3'))).toHaveLength(3);
    expect((await run('events', path, '--from', '2000')).out).toBe('');
  });

  it('names what does not exist', async () => {
    expect((await run('events', path, '--event', 'stall')).err).toMatch(/READER_NAME.*core0\/annotate/);
    expect((await run('events', path, '--where', 'colour=red')).err).toMatch(/READER_NAME.*"colour"/);
  });
});

describe('uscope state', () => {
  it('--json prints slots, properties and occupancy', async () => {
    const state = JSON.parse((await run('state', path, '--at', '2ns', '--json')).out);
    expect(state.t).toBe('2000');
    expect(state.storages.map((storage: { storage: string }) => storage.storage)).toEqual([
      'core0/entities',
      'core0/rob',
      'core0/queue',
      'core0/retired',
    ]);
    expect(state.storages[0]).toEqual({
      storage: 'core0/entities',
      numSlots: 12,
      occupancy: 1,
      properties: {},
      slots: [{ slot: 3, fields: { entity_id: '3', pc: '9223372036854775809', delta: '-5' } }],
    });
    expect(state.storages[1].properties).toEqual({ head: '2', label: 'say "hi"' });
    expect(state.storages[3].slots).toEqual([{ slot: 0, fields: { count: '7' } }]);
  });

  it('takes cycles, and storages by name', async () => {
    const result = await run(
      'state',
      path,
      '--cycle',
      'core_clk:3',
      '--storage',
      'entities',
      '--storage',
      'retired',
    );
    expect(result.out).toBe('state at 3000 ps\ncore0/entities  0/12\ncore0/retired  1/1\n  [0] count=7\n');
    expect((await run('state', path, '--at', '0', '--storage', 'rub')).err).toMatch(
      /READER_NAME.*core0\/rob/,
    );
  });

  it('beyond the end says so', async () => {
    const result = await run('state', path, '--at', '1s', '--storage', 'retired');
    expect([result.status, linesOf(result)[2]]).toEqual([0, '  [0] count=7']);
    expect(result.err).toMatch(/the trace ends at 3000 ps/);
  });
});
