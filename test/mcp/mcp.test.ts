import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Frame } from '../../sdk/src/format/types.js';
import { add, annotate, coreSchema, frame, prop, set, stage, TraceBuilder } from '../support/build-trace.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { type Model, modelSchema, PERIOD_PS, runModel, STAGES } from '../support/pipeline-model.js';
import { startRangeServer } from '../support/range-server.js';

// Servers are started, and waited for.
limitOfFile(PROCESSES_MS);

const command = fileURLToPath(new URL('../../sdk/bin/uscope.js', import.meta.url));
const library = fileURLToPath(new URL('../../sdk/dist/cli/mcp/server.js', import.meta.url));
if (!existsSync(library)) throw new Error('the SDK is not built: run npm run build first');

const CYCLES = 3000;

function chooser(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

function pipelineTrace(frames: readonly Frame[], strings: readonly string[]): Uint8Array {
  const builder = new TraceBuilder({
    schema: modelSchema(),
    compression: 'lz4',
    dut: [['cpu.pipeline_stages', STAGES.join(',')]],
  });
  for (let i = 0; i < frames.length; i += 200) {
    builder.segment({ frames: frames.slice(i, i + 200), strings: i === 0 ? strings : [] });
  }
  return builder.finalize().bytes;
}

/** Many slots and counters, texts that are long, and events of which many are in one instant. */
function smallTrace(frames: readonly Frame[]): TraceBuilder {
  return new TraceBuilder({ schema: coreSchema }).segment({ frames, strings: ['x'.repeat(30_000), 'short'] });
}

const crowded = [
  frame(0, ...[0, 1, 2, 3, 4, 5].map((slot) => set(0, slot, 1, 0x8000_0000 + slot)), set(1, 0, 0, 7)),
  frame(1000, prop(1, 1, 0), annotate(1, 0), ...Array.from({ length: 50 }, (_, i) => stage(i % 12, i % 2))),
  frame(2000, stage(1, 1), annotate(2, 1), add(3, 0, 0, 9)),
];

interface Answer {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of many tools
  readonly json: any;
  readonly code: unknown;
}

class Session {
  readonly client = new Client({ name: 'test', version: '1' });

  async connect(...args: string[]): Promise<this> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [command, 'mcp', ...args],
      stderr: 'ignore',
    });
    await this.client.connect(transport);
    return this;
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args });
    const [{ text }] = result.content as [{ text: string }];
    const isError = result.isError === true;
    const { code } = (result.structuredContent ?? {}) as { code?: unknown };
    return { isError, text, json: isError ? null : JSON.parse(text), code };
  }

  /** All pages of an answer: `list` picks the items of one. */
  async pages(
    name: string,
    args: Record<string, unknown>,
    list: (json: Answer['json']) => unknown[],
  ): Promise<{ items: unknown[]; calls: number }> {
    const items: unknown[] = [];
    let cursor: string | undefined;
    for (let calls = 1; ; calls++) {
      const { json, text } = await this.call(name, cursor === undefined ? args : { ...args, cursor });
      if (!json) throw new Error(text);
      items.push(...list(json));
      if (!json.more) return { items, calls };
      cursor = json.cursor;
    }
  }
}

describe('uscope mcp', () => {
  const model: Model = runModel(chooser(7), CYCLES);
  let directory: string;
  let session: Session;
  const path = (name: string) => join(directory, name);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'uscope-mcp-'));
    await writeFile(path('pipe.uscope'), pipelineTrace(model.frames, model.strings));
    const slow = model.frames.map((one) => ({ ...one, timePs: one.timePs * 2n }));
    await writeFile(path('slow.uscope'), pipelineTrace(slow, model.strings));
    await writeFile(path('small.uscope'), smallTrace(crowded).finalize().bytes);
    const other = [...crowded.slice(0, 2), frame(2000, stage(1, 1), annotate(2, 1), add(3, 0, 0, 8))];
    await writeFile(path('other.uscope'), smallTrace(other).finalize().bytes);
    session = await new Session().connect(
      path('pipe.uscope'),
      `little=${path('small.uscope')}`,
      path('other.uscope'),
      `none=${path('none.uscope')}`,
      path('slow.uscope'),
    );
  });
  afterAll(async () => {
    await session?.client.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('offers its tools, each with a description and described arguments', async () => {
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'file_info',
      'state_at_cycle',
      'entity_timeline',
      'counter_values',
      'buffer_occupancy',
      'analyze_performance',
      'find_events',
      'diff',
    ]);
    for (const { description, inputSchema, annotations } of tools) {
      expect(description?.length).toBeGreaterThan(50);
      expect(inputSchema.type).toBe('object');
      expect(annotations?.readOnlyHint).toBe(true);
    }
    expect(session.client.getInstructions()).toMatch(/file_info/);
  });

  describe('file_info', () => {
    it('lists the files by name, and describes one', async () => {
      const { json } = await session.call('file_info');
      expect(json.files.map((one: { name: string }) => one.name)).toEqual([
        'pipe',
        'little',
        'other',
        'none',
        'slow',
      ]);
      const pipe = (await session.call('file_info', { file: 'pipe' })).json;
      expect(pipe).toMatchObject({
        complete: true,
        clocks: [{ name: 'core_clk', periodPs: PERIOD_PS }],
        cores: [{ core: 'core0', stages: STAGES, recordsInstructions: true }],
        more: false,
      });
      expect(pipe.events[0]).toEqual({
        event: 'core0/stage_transition',
        fields: ['entity_id u32', 'stage enum pipeline_stage'],
      });
      expect(pipe.enums[0]).toEqual({ enum: 'pipeline_stage', labels: STAGES });
    });

    it('is cut at a limit, and continues at the cursor', async () => {
      const lists = ['dut', 'scopes', 'storages', 'events', 'enums'];
      const all = (json: Answer['json']) => lists.flatMap((list) => json[list] ?? []);
      const whole = await session.pages('file_info', { file: 'pipe' }, all);
      const cut = await session.pages('file_info', { file: 'pipe', limit: 3 }, all);
      expect(cut.items).toEqual(whole.items);
      expect(cut.calls).toBe(Math.ceil(whole.items.length / 3));
    });
  });

  describe('state_at_cycle', () => {
    it('shows what was recorded up to and in the cycle', async () => {
      const at = async (cycle: number) =>
        (await session.call('state_at_cycle', { file: 'little', cycle, storages: ['retired'] })).json;
      expect((await at(1)).storages[0].slots).toEqual([{ slot: 0, count: '0' }]);
      expect((await at(2)).storages[0].slots).toEqual([{ slot: 0, count: '9' }]);
      expect((await at(50)).note).toMatch(/the trace ends at 2000 ps/);
    });

    it('agrees with the model about the instructions in flight', async () => {
      const cycle = 1234;
      const { items } = await session.pages(
        'state_at_cycle',
        { file: 'pipe', cycle, storages: ['core0/entities'], limit: 5 },
        (json) => json.storages.flatMap((one: { slots: unknown[] }) => one.slots),
      );
      const inFlight = model.instructions.filter(
        ({ birth, end }) => birth <= cycle && (end === null || end > cycle),
      );
      const expected = inFlight.map(({ id, pc }) => ({ slot: id, entity_id: String(id), pc: String(pc) }));
      expect(items).toHaveLength(expected.length);
      for (const one of expected) expect(items).toContainEqual(expect.objectContaining(one));
    });

    it('cuts long texts', async () => {
      const { text, json } = await session.call('state_at_cycle', {
        file: 'little',
        time: '1ns',
        storages: ['rob'],
      });
      expect(json.storages[0].properties.label).toMatch(/^x{1000}… \(29000 more characters\)$/);
      expect(text.length).toBeLessThan(2000);
    });

    it.each([
      [{}, 'CLI_USAGE', /either a cycle or a time/],
      [{ cycle: 1, storages: ['nope'] }, 'READER_NAME', /nope/],
      [{ cycle: 1, clock: 'nope' }, 'READER_NAME', /core_clk/],
      [{ time: 'soon' }, 'CLI_USAGE', /"soon" is not a time/],
      [{ cycle: 1, cursor: 'x' }, 'CLI_USAGE', /not a cursor/],
    ])('%j is a tool error', async (args, code, text) => {
      const answer = await session.call('state_at_cycle', { file: 'little', ...args });
      expect(answer).toMatchObject({ isError: true, code });
      expect(answer.text).toMatch(text);
      expect(answer.text).toMatch(new RegExp(`^${code}: .*small\\.uscope\\)$`));
    });
  });

  describe('entity_timeline', () => {
    it('gives the lives of the instructions in flight, page by page', async () => {
      const [from, to] = [1000, 1040];
      const { items, calls } = await session.pages(
        'entity_timeline',
        { file: 'pipe', from_cycle: from, to_cycle: to, limit: 7 },
        (json) => json.instructions,
      );
      const expected = model.instructions.filter(
        ({ birth, end, flush }) => birth < to && (end ?? flush?.cycle ?? Number.POSITIVE_INFINITY) >= from,
      );
      expect(items.map((one) => (one as { seq: string }).seq)).toEqual(
        expected.map(({ seq }) => String(seq)),
      );
      expect(calls).toBe(Math.ceil(items.length / 7));
      const [first] = expected;
      expect(items[0]).toMatchObject({
        pc: `0x${first!.pc.toString(16)}`,
        born: String(first!.birth),
        stages: first!.stages.map(({ name, cycle }) =>
          expect.objectContaining({ stage: name, from: String(cycle) }),
        ),
      });
    });

    it('finds an instruction by number, by address in a range, and around its first fetch', async () => {
      const wanted = model.instructions[500]!;
      const pc = `0x${wanted.pc.toString(16)}`;
      const numbered = await session.call('entity_timeline', {
        file: 'pipe',
        first_instruction: 500,
        count: 1,
      });
      expect(numbered.json.instructions).toMatchObject([{ seq: '500', pc }]);
      const inRange = await session.call('entity_timeline', { file: 'pipe', pc, from_cycle: wanted.birth });
      expect(inRange.json.instructions).toMatchObject([{ seq: '500' }]);
      const around = await session.call('entity_timeline', { file: 'pipe', pc, limit: 200 });
      const numbers = around.json.instructions.map((one: { seq: string }) => one.seq);
      expect(numbers).toContain('500');
      expect(numbers).toContain('501');
    });
  });

  it('counter_values: ends, change and series', async () => {
    const { json } = await session.call('counter_values', { file: 'little', from_cycle: 1, points: 2 });
    expect(json).toMatchObject({ count: 1, more: false });
    expect(json.counters[0]).toMatchObject({
      counter: 'core0/retired',
      start: '0',
      end: '9',
      change: '9',
      perCycle: 4.5,
    });
    expect(json.counters[0].series.map((one: { change: string }) => one.change)).toEqual(['0', '9']);
    const wrong = await session.call('counter_values', { file: 'little', counters: ['entities'] });
    expect(wrong).toMatchObject({ isError: true, code: 'READER_NAME' });
  });

  it('buffer_occupancy: shares of time', async () => {
    const { json } = await session.call('buffer_occupancy', { file: 'little', buffers: ['rob'] });
    expect(json.buffers).toMatchObject([
      {
        buffer: 'core0/rob',
        slots: 4,
        mean: 1,
        greatest: 1,
        emptyShare: 0,
        histogram: [{ occupied: '1', share: 1 }],
      },
    ]);
  });

  it('analyze_performance: what the model did, in a range and as a whole', async () => {
    const { json } = await session.call('analyze_performance', { file: 'pipe', points: 10 });
    const retired = model.instructions.filter(({ end, flush }) => end !== null && !flush).length;
    const [core] = json.cores;
    expect(core.instructions).toMatchObject({ retired, fetched: model.instructions.length });
    expect(
      core.stalls.reasons
        .map((one: { events: number }) => one.events)
        .reduce((a: number, b: number) => a + b),
    ).toBe(model.stalls.length);
    expect(core.stages.map((one: { stage: string }) => one.stage)).toEqual(STAGES);
    expect(core.series.ipc.length).toBe(Math.ceil(CYCLES / core.series.intervalCycles));
    const part = await session.call('analyze_performance', { file: 'pipe', from_cycle: 100, to_cycle: 200 });
    expect(part.json.cores[0]).toMatchObject({ fromCycle: '100', toCycle: '200' });
    expect(part.json.cores[0].series).toBeUndefined();
  });

  it('says how far long work has come to a client that asks', async () => {
    const told: number[] = [];
    const params = { name: 'analyze_performance', arguments: { file: 'pipe' } };
    await session.client.callTool(params, undefined, { onprogress: ({ progress }) => told.push(progress) });
    // How many come before the answer depends on the machine.
    expect(told.length).toBeGreaterThan(0);
    expect(told).toEqual([...told].sort((a, b) => a - b));
  });

  describe('find_events', () => {
    const events = (json: Answer['json']) => json.events;

    it('finds by type and field, page by page, also within one instant', async () => {
      const args = { file: 'little', events: ['stage_transition'], where: { stage: 'execute' } };
      const whole = await session.pages('find_events', args, events);
      const cut = await session.pages('find_events', { ...args, limit: 4 }, events);
      expect(whole.items).toHaveLength(26);
      expect(whole.items[0]).toEqual({
        t: '1000',
        event: 'core0/stage_transition',
        fields: { entity_id: '1', stage: 'execute' },
      });
      expect(cut.items).toEqual(whole.items);
      expect(cut.calls).toBe(7);
    });

    it('keeps to its range', async () => {
      const { json } = await session.call('find_events', { file: 'little', from_cycle: 2, to_cycle: 3 });
      expect(json.events.map((one: { t: string }) => one.t)).toEqual(['2000', '2000']);
    });

    it.each([
      [{ events: ['nope'] }, 'READER_NAME'],
      [{ where: { nope: 1 } }, 'READER_NAME'],
      [{ from_cycle: 5, to_cycle: 5 }, 'CLI_USAGE'],
      [{ from_cycle: 5, to_time: '9ns' }, 'CLI_USAGE'],
    ])('%j is a tool error', async (args, code) => {
      expect(await session.call('find_events', { file: 'little', ...args })).toMatchObject({
        isError: true,
        code,
      });
    });

    it('arguments of the wrong type are refused before anything is read', async () => {
      const { isError, text } = await session.call('find_events', { file: 'little', limit: 'many' });
      expect(isError).toBe(true);
      expect(text).toMatch(/limit/);
    });
  });

  it.each([
    ['time', { first: { timePs: '2000', path: 'core0/retired' } }],
    ['state', { first: { timePs: '2000', cells: [{ path: 'core0/retired', a: '9', b: '8' }] } }],
  ])('diff by %s finds the first difference', async (by, result) => {
    const { json } = await session.call('diff', { a: 'little', b: 'other', by });
    expect(json).toMatchObject({ same: false, result });
    expect(await session.call('diff', { a: 'little', b: 'little' })).toMatchObject({ code: 'CLI_USAGE' });
  });

  it('diff by retired instruction finds runs of different timing the same', async () => {
    const { json } = await session.call('diff', { a: 'pipe', b: 'slow', by: 'retired' });
    const retired = model.instructions.filter(({ end, flush }) => end !== null && !flush).length;
    expect(json).toMatchObject({ same: true, result: { cores: [{ retiredA: retired, retiredB: retired }] } });
    expect((await session.call('diff', { a: 'pipe', b: 'slow', first_only: true })).json.same).toBe(false);
  });

  describe('files', () => {
    it('that are not named, not known, or not there are tool errors', async () => {
      const unnamed = await session.call('find_events');
      expect(unnamed).toMatchObject({ isError: true, code: 'READER_NAME' });
      expect(unnamed.text).toMatch(/name one of them: pipe, little, other, none, slow/);
      expect(await session.call('find_events', { file: 'x' })).toMatchObject({ code: 'READER_NAME' });
      const missing = await session.call('find_events', { file: 'none' });
      expect(missing).toMatchObject({ isError: true, code: 'READER_OPEN' });
      expect(missing.text).toMatch(/none\.uscope/);
    });

    it('still growing, replaced by others and finalized are seen as they are', async () => {
      const growing = path('growing.uscope');
      const builder = new TraceBuilder({ schema: coreSchema });
      await writeFile(growing, builder.segment({ frames: [frame(0, stage(1, 0))] }).bytes);
      const one = await new Session().connect(growing);
      const count = async () => (await one.call('find_events')).json.events.length;
      expect(await count()).toBe(1);
      await writeFile(growing, builder.segment({ frames: [frame(1000, stage(1, 1))] }).bytes);
      expect(await count()).toBe(2);
      await writeFile(growing, builder.finalize().bytes);
      expect(await count()).toBe(2);
      expect((await one.call('file_info')).json).toMatchObject({ name: 'growing', complete: true });
      await writeFile(path('new'), smallTrace(crowded).finalize().bytes);
      await rename(path('new'), growing);
      expect(await count()).toBe(53);
      await one.client.close();
    });

    it('may be URLs; a trace replaced on the server is opened anew', async () => {
      const server = await startRangeServer(pipelineTrace(model.frames, model.strings));
      const one = await new Session().connect(server.url);
      const file = async () => (await one.call('file_info')).json;
      expect(await file()).toMatchObject({ name: 'trace', segments: Math.ceil(model.frames.length / 200) });
      Object.assign(server, { bytes: smallTrace(crowded).finalize().bytes, etag: '"2"' });
      expect(
        (await one.call('state_at_cycle', { cycle: 2, storages: ['retired'] })).json.storages,
      ).toMatchObject([{ slots: [{ count: '9' }] }]);
      await one.client.close();
      await server.close();
    });
  });

  describe('the process', () => {
    const run = (...args: string[]) => spawn(process.execPath, [command, 'mcp', ...args], { stdio: 'pipe' });
    const exit = (child: ReturnType<typeof run>) =>
      new Promise<[number | null, string]>((resolve) => {
        let err = '';
        child.stderr.on('data', (text) => {
          err += text;
        });
        child.on('close', (status) => resolve([status, err]));
      });

    it('ends when its client has gone', async () => {
      const child = run(path('pipe.uscope'));
      child.stdin.end();
      expect(await exit(child)).toEqual([0, '']);
    });

    it('ends on a signal, while it is connected', async () => {
      const child = run(path('pipe.uscope'));
      const hello = { jsonrpc: '2.0', id: 1, method: 'ping' };
      child.stdin.write(`${JSON.stringify(hello)}\n`);
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.kill('SIGTERM');
      expect(await exit(child)).toEqual([0, '']);
    });

    it('needs a file', async () => {
      const child = run();
      expect(await exit(child)).toEqual([
        2,
        expect.stringContaining("CLI_USAGE: missing required argument 'file'"),
      ]);
    });
  });
});
