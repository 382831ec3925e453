import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coreSchema, frame, prop, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import {
  anyPausedTrace,
  anyTrace,
  bytesOf,
  openBytes,
  stateInWords,
  wordsOf,
} from '../../../../test/support/random-trace.js';
import {
  type DutProperties,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
  type StorageDef,
} from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { withControlEvent } from '../../schema/index.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { type MergeInput, mergeTraces, planMerge } from './index.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-merge-'));
  path = join(directory, 'soc.uscope');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function merged<T>(inputs: readonly MergeInput[], look: (trace: Trace) => Promise<T>): Promise<T> {
  await mergeTraces(await planMerge(inputs, 'soc'), { path, summarizer: createCpuSummarizer });
  const trace = await openTraceFile(path);
  try {
    return await look(trace);
  } finally {
    await trace.close();
    rmSync(path);
  }
}

const inputsOf = (...traces: Trace[]): MergeInput[] =>
  traces.map((trace, i) => ({ trace, name: `file${i}` }));

/** An input's words as they are in the merged trace: under another scope. */
const renamed = (words: readonly string[], scope: string): string[] =>
  words.map((word) => word.replace(/^(\d+ )?(core0\/|(?=reset))/, `$1${scope}/`));

const timeOf = (word: string): bigint => BigInt(word.split(' ')[0]);

/** Without string references: what was never set names another string in a merged trace. */
const slotsOf = (words: readonly string[]): string[] => words.filter((word) => !word.includes(' text '));

/** Stable by time. */
const byTime = (words: readonly string[]): string[] =>
  words
    .map((word, i) => [timeOf(word), i, word] as const)
    .sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]))
    .map(([, , word]) => word);

/** The schema without its event at the root: everything is in one scope. */
/** A storage of one slot with one field. */
const oneByte = (name: string, storageId: number): StorageDef => ({
  name,
  storageId,
  numSlots: 1,
  flags: 0,
  scopeId: 1,
  properties: [],
  fields: [{ name: 'f', type: FieldType.U8, enumId: 0, role: 0, pairId: 0 }],
});

const oneScope: Schema = { ...coreSchema, events: coreSchema.events.slice(0, 2) };

describe('a merged trace', () => {
  it('has the items of all inputs in the order of time, and their states side by side', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTrace, { minLength: 1, maxLength: 3 }), async (all) => {
        const traces = await Promise.all(all.map((one) => openBytes(bytesOf(one, oneScope))));
        const scopes = traces.length === 1 ? ['core0'] : traces.map((_, i) => `file${i}`);
        await merged(inputsOf(...traces), async (soc) => {
          const words = await Promise.all(traces.map(async (t, i) => renamed(await wordsOf(t), scopes[i])));
          expect(await wordsOf(soc)).toEqual(byTime(words.flat()));
          const times = [soc.totalTimePs, soc.totalTimePs / 2n, 700n];
          for (const time of times) {
            if (soc.segmentCount === 0 || time < (await soc.segment(0)).timeStartPs) continue;
            const here = new Set(await stateInWords(soc, time));
            for (const [i, t] of traces.entries()) {
              if (t.segmentCount === 0) continue;
              const begin = (await t.segment(0)).timeStartPs;
              if (time < begin) continue;
              // What was never set names the input's string 0 there, and the empty text here.
              const unset = ` text ${(await t.strings.get(0)) ?? 'none'}`;
              for (const word of renamed(await stateInWords(t, time), scopes[i])) {
                const either = [word, word.endsWith(unset) ? `${word.slice(0, -unset.length)} text ` : word];
                expect(either.some((one) => here.has(one))).toBe(true);
              }
            }
          }
        });
      }),
      { numRuns: 25 },
    );
  });

  it('shows nothing inside a pause that its input does not show there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyPausedTrace, { minLength: 2, maxLength: 3 }), async (all) => {
        const traces = await Promise.all(all.map((one) => openBytes(bytesOf(one, oneScope))));
        await merged(inputsOf(...traces), async (soc) => {
          const times = new Set((await wordsOf(soc)).map(timeOf));
          for (const time of times) {
            const here = await stateInWords(soc, time);
            for (const [i, t] of traces.entries()) {
              if (t.segmentCount === 0 || time < (await t.segment(0)).timeStartPs) continue;
              const scope = `file${i}/`;
              expect(slotsOf(here.filter((word) => word.startsWith(scope)))).toEqual(
                slotsOf(renamed(await stateInWords(t, time), `file${i}`)),
              );
            }
          }
        });
      }),
      { numRuns: 25 },
    );
  });

  const tiny = (schema: Schema, dut: DutProperties = []): Promise<Trace> =>
    openBytes(
      new TraceBuilder({ schema, dut })
        .segment({ frames: [frame(0, set(0, 1, 0, 1)), frame(1000, prop(1, 1, 1))], strings: ['x', 'y'] })
        .finalize().bytes,
    );

  it('calls scopes by their own names where these differ', async () => {
    const core1 = {
      ...oneScope,
      scopes: oneScope.scopes.map((s) => (s.scopeId ? { ...s, name: 'core1' } : s)),
    };
    await merged(inputsOf(await tiny(oneScope), await tiny(core1)), async (soc) => {
      expect(soc.names.storageNames).toContain('core0/rob');
      expect(soc.names.storageNames).toContain('core1/rob');
      expect(soc.schema.scopes.map(({ name, protocol }) => [name, protocol])).toEqual([
        ['root', null],
        ['core0', 'cpu'],
        ['core1', 'cpu'],
      ]);
      expect(soc.schema.clocks).toHaveLength(1);
      expect(soc.schema.enums).toHaveLength(1);
    });
  });

  it('puts the control events of each below its scope', async () => {
    const core1 = {
      ...oneScope,
      scopes: oneScope.scopes.map((s) => (s.scopeId ? { ...s, name: 'core1' } : s)),
    };
    const inputs = inputsOf(await tiny(withControlEvent(oneScope)), await tiny(withControlEvent(core1)));
    await merged(inputs, async (soc) => {
      expect(soc.names.storageNames).toContain('core0/rob');
      expect(soc.names.storageNames).toContain('core1/rob');
      expect(soc.names.eventNames).toContain('core0/uscope/control');
      expect(soc.names.eventNames).toContain('core1/uscope/control');
    });
  });

  it.each([
    { duts: ['big', 'little'], names: ['a', 'b'], scopes: ['big', 'little'] },
    { duts: ['soc', 'soc'], names: ['a', 'b'], scopes: ['a', 'b'] },
    { duts: ['soc', 'soc'], names: ['a', 'a'], scopes: ['a', 'a_2'] },
    { duts: ['2 hot', 'x/y'], names: ['a', 'b'], scopes: ['_2_hot', 'x_y'] },
  ])('resolves equal scope names: $scopes', async ({ duts, names, scopes }) => {
    const inputs = await Promise.all(
      duts.map(async (dut, i) => ({ trace: await tiny(oneScope, [['dut_name', dut]]), name: names[i] })),
    );
    const plan = await planMerge(inputs, 'soc');
    expect(plan.inputs.map(({ scope }) => scope)).toEqual(scopes);
    expect(plan.notes).toHaveLength(2);
  });

  it('takes the names it is given', async () => {
    const [a, b] = [await tiny(oneScope), await tiny(oneScope)];
    const plan = await planMerge(
      [
        { trace: a, name: 'a', scope: 'left' },
        { trace: b, name: 'b' },
      ],
      'soc',
    );
    expect(plan.inputs.map(({ scope }) => scope)).toEqual(['left', 'core0']);
    const twice = [
      { trace: a, name: 'a', scope: 'x' },
      { trace: b, name: 'b', scope: 'x' },
    ];
    await expect(planMerge(twice, 'soc')).rejects.toThrow(/SCHEMA_DUPLICATE/);
    await expect(planMerge([{ trace: a, name: 'a', scope: 'not this' }], 'soc')).rejects.toThrow(
      /SCHEMA_NAME/,
    );
  });

  it('puts a trace with things at its root into a separate scope', async () => {
    await merged(inputsOf(await tiny(coreSchema), await tiny(oneScope)), async (soc) => {
      expect(soc.names.storageNames).toContain('file0/core0/rob');
      expect(soc.names.eventNames).toContain('file0/reset');
      expect(soc.names.storageNames).toContain('core0/rob');
      const scope = soc.schema.scopes.find(({ name }) => name === 'file0');
      expect(scope).toMatchObject({ parentId: 0, clockId: 0 });
    });
  });

  it('keeps clocks and enums apart that differ under one name', async () => {
    const other: Schema = {
      ...oneScope,
      clocks: [{ name: 'core_clk', clockId: 0, periodPs: 250 }],
      enums: [{ name: 'pipeline_stage', values: [{ value: 0, name: 'F' }] }],
    };
    const inputs = inputsOf(await tiny(oneScope), await tiny(other));
    const { notes } = await planMerge(inputs, 'soc');
    expect(notes.filter((note) => /^(clock|enum) /.test(note))).toHaveLength(2);
    await merged(inputs, async (soc) => {
      expect(soc.schema.clocks.map(({ name, periodPs }) => [name, periodPs])).toEqual([
        ['core_clk', 1000],
        ['file1.core_clk', 250],
      ]);
      const event = soc.names.event('file1/stage_transition');
      expect(soc.schema.enums[event.fields[1].enumId]).toMatchObject({ name: 'file1.pipeline_stage' });
      expect(soc.clockOf(event.scopeId)?.periodPs).toBe(250);
      expect(await stateInWords(soc, 1000n)).toContain('file1/rob label text y');
    });
  });

  it('shares the DUT properties that agree and gives the others to their scopes', async () => {
    const a = await tiny(oneScope, [
      ['dut_name', 'a'],
      ['cpu.isa', 'RV64I'],
      ['cpu.vendor', 'x'],
      ['core0/k', '1'],
    ]);
    const b = await tiny(oneScope, [
      ['dut_name', 'b'],
      ['cpu.isa', 'RV64I'],
      ['cpu.vendor', 'y'],
    ]);
    const { dut } = await planMerge(inputsOf(a, b), 'soc');
    expect(Object.fromEntries(dut)).toEqual({
      dut_name: 'soc',
      'cpu.isa': 'RV64I',
      'a/dut_name': 'a',
      'a/cpu.vendor': 'x',
      'a/k': '1',
      'b/dut_name': 'b',
      'b/cpu.vendor': 'y',
      'uscope.merge_of': 'file0,file1',
    });
  });

  it('sums up all inputs', async () => {
    const summary = await merged(inputsOf(await tiny(oneScope), await tiny(oneScope)), (soc) =>
      soc.summary(),
    );
    expect(summary?.totalInstructions).toBe(2n);
    expect(summary?.counters.map(({ name }) => name)).toEqual(['file0/retired', 'file1/retired']);
  });
});

describe('what does not fit one file', () => {
  const many = (count: number, make: (i: number) => Partial<Schema>): Promise<Trace>[] =>
    Array.from({ length: count }, (_, i) => {
      const schema = { ...oneScope, ...make(i) };
      return openBytes(new TraceBuilder({ schema }).finalize().bytes);
    });

  it.each([
    [
      'enums',
      2,
      (i: number) => ({
        enums: Array.from({ length: 200 }, (_, n) => ({
          name: `e${i}_${n}`,
          values: [{ value: 0, name: 'x' }],
        })),
      }),
      /enums; the format holds at most 255/,
    ],
    [
      'clocks',
      2,
      (i: number) => ({
        clocks: Array.from({ length: 200 }, (_, n) => ({ name: `c${i}_${n}`, clockId: n, periodPs: 1 })),
      }),
      /clock domains; the format holds at most 255/,
    ],
    [
      'definitions',
      3,
      () => ({
        storages: Array.from({ length: 1000 }, (_, n) => oneByte(`s${n}`, n)),
      }),
      /definitions take \d+ bytes/,
    ],
    [
      'names',
      2,
      (i: number) => ({
        storages: Array.from({ length: 300 }, (_, n) => oneByte(`s${i}_${n}`.padEnd(150, 'x'), n)),
      }),
      /string pool/,
    ],
  ])('%s: an error before anything is written', async (_what, count, make, message) => {
    const traces = await Promise.all(many(count, make));
    await expect(planMerge(inputsOf(...traces), 'soc')).rejects.toThrow(message);
    await expect(planMerge(inputsOf(...traces), 'soc')).rejects.toThrow(/SCHEMA_LIMIT.*merge fewer/);
  });

  it('more than 256 storages fit, with a note on what they cost', async () => {
    const storages = Array.from({ length: 300 }, (_, n) => oneByte(`s${n}`, n));
    const schema = {
      ...oneScope,
      storages,
      scopes: [
        { name: 'root', scopeId: 0, parentId: NO_ID, protocol: null, clockId: INHERIT_CLOCK },
        { name: 'core0', scopeId: 1, parentId: 0, protocol: null, clockId: INHERIT_CLOCK },
      ],
    };
    const trace = await openBytes(
      new TraceBuilder({ schema })
        .segment({ frames: [frame(5, set(299, 0, 0, 1), set(0, 0, 0, 2))] })
        .finalize().bytes,
    );
    expect((await planMerge(inputsOf(trace), 'soc')).notes).toEqual([expect.stringMatching(/300 storages/)]);
    await merged(inputsOf(trace, trace), async (soc) => {
      const state = await soc.stateAt(5);
      expect(state.slotField('file1/s299', 0, 'f')).toBe(1n);
      expect(state.slotField('file1/s0', 0, 'f')).toBe(2n);
    });
  });
});
