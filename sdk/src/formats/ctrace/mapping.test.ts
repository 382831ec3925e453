/** .ctrace to µScope and back: the same events; any trace to .ctrace, as messages. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
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
} from '../../../../test/support/build-trace.js';
import {
  contentOf,
  EVERY_TYPE,
  everything,
  format,
  SCHEMA,
  written,
} from '../../../../test/support/ctrace-files.js';
import { cases } from '../../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { memorySource } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { sliceTrace } from '../../tools/slice/index.js';
import { type AnyFormat, type ConversionResult, convert, USCOPE } from '../index.js';
import { FORMAT } from './format.js';
import {
  ArgType,
  ByteText,
  CtraceFile,
  type CtraceSchema,
  type CtraceValue,
  EMPTY_SCHEMA,
  LineFormatter,
} from './index.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const VECTORS = fileURLToPath(new URL('../../../../test/vectors/ctrace/', import.meta.url));
const LARGE = fileURLToPath(new URL('../../../../../shared/samples/ctrace/pipe2k.ctrace', import.meta.url));
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-ctrace-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function run(
  input: string,
  output: string,
  [from, to]: readonly [AnyFormat, AnyFormat],
  options: Record<string, string> = {},
  onWarning?: (message: string) => void,
): Promise<ConversionResult> {
  const bytes = await readFile(input);
  return convert({
    onWarning,
    ...{ input, output, from, to, force: true, extension: to === USCOPE ? '.uscope' : '.ctrace' },
    ...{ source: memorySource(new Uint8Array(bytes)), options: new Map(Object.entries(options)) },
  });
}

/** There and back again. */
async function roundTrip(bytes: Uint8Array, options: Record<string, string> = {}): Promise<Uint8Array> {
  const [input, trace, output] = ['in.ctrace', 'a.uscope', 'out.ctrace'].map((name) => join(directory, name));
  await writeFile(input, bytes);
  const there = await run(input, trace, [FORMAT, USCOPE], options);
  const back = await run(trace, output, [USCOPE, FORMAT]);
  for (const { report } of [...there.steps, ...back.steps]) expect(report.unwaived()).toEqual([]);
  return new Uint8Array(await readFile(output));
}

async function dump(bytes: Uint8Array): Promise<string> {
  const file = await CtraceFile.open(memorySource(bytes));
  const formatter = new LineFormatter(file.schema);
  const out = new ByteText();
  const stream = file.stream();
  while (await stream.more()) while (stream.cursor.next()) formatter.line(stream.cursor, out);
  return Buffer.from(out.used).toString('latin1');
}

describe('.ctrace through µScope', () => {
  it('keeps everything that a file can hold', async () => {
    const bytes = await everything();
    const again = await roundTrip(bytes);
    expect(await contentOf(again)).toEqual(await contentOf(bytes));
    expect(await dump(again)).toBe(await dump(bytes));
    const [before, after] = [
      await CtraceFile.open(memorySource(bytes)),
      await CtraceFile.open(memorySource(again)),
    ];
    expect(after.footer).toMatchObject({ ...before.footer, blockCount: after.footer?.blockCount });
  });

  it('keeps arguments that nothing is known of, byte for byte', async () => {
    const stored = async (bytes: Uint8Array): Promise<string[]> => {
      const { cursor, ...stream } = await streamOf(bytes);
      const all: string[] = [];
      while (await stream.more()) {
        while (cursor.next())
          all.push(Buffer.from(cursor.bytes.subarray(cursor.argsAt, cursor.argsEnd)).toString('hex'));
      }
      return all;
    };
    const bytes = await everything();
    const [before, after] = [await stored(bytes), await stored(await roundTrip(bytes))];
    // One event has bytes after its arguments that rounding left.
    const rounded = before.indexOf('ff01eeeeee');
    expect(after.map((args, i) => (i === rounded ? 'ff01eeeeee' : args))).toEqual(before);
    expect(after[rounded]).toBe('ff01');
  });

  it('is a scope per unit, an event type per format it uses, and fields by the words of the message', async () => {
    const bytes = await everything();
    const [input, output] = [join(directory, 'shape.ctrace'), join(directory, 'shape.uscope')];
    await writeFile(input, bytes);
    await run(input, output, [FORMAT, USCOPE], { period: '500ps' });
    const trace = await openTraceFile(output);
    const names = trace.schema.events.map((_, id) => trace.names.eventNames[id]);
    expect(names.filter((name) => !name.startsWith('ctrace/')).sort()).toEqual(
      [
        'cpu.fetch/caf',
        'cpu.fetch/every_type',
        'cpu.fetch/format_4294967295',
        'cpu.fetch/format_77',
        'cpu.fetch/says',
        'cpu.fetch/started',
        'cpu_fetch/every_type',
        'ctrace_9/says',
        'unit_0/format_4',
        'unit_500/started',
        'unit_7/says',
      ].map((name) => name.replace('/says', '/pc')),
    );
    const every = trace.schema.events[names.indexOf('cpu_fetch/every_type')];
    expect(every.fields.map(({ name }) => name)).toEqual([
      ...[
        't1',
        't2',
        't3',
        't4',
        't5',
        't6',
        't7',
        't8',
        't9_f32',
        't10_f64',
        't11',
        't12',
        't13',
        'category',
      ],
    ]);
    expect(trace.dutProperty('ctrace.created')).toBe('1795173940');
    expect(trace.totalTimePs).toBe(6000n);
    await trace.close();
  });

  it('refuses times that 64 bits do not hold', async () => {
    const late = (1n << 63n) / 1000n;
    const at = (cycle: bigint) =>
      written(SCHEMA, (writer) => writer.event({ cycle, formatId: 1, category: 0, source: 1 }, []));
    await expect(roundTrip(await at(late + 1n))).rejects.toThrow(/CONVERT_LIMIT.*period/);
    expect((await contentOf(await roundTrip(await at(late)))).events).toMatchObject([{ cycle: late }]);
    const far = await at((1n << 63n) - 1n);
    expect((await contentOf(await roundTrip(far, { period: '1ps' }))).events).toHaveLength(1);
  });

  it('has room for what a schema has no room for', async () => {
    const schema: CtraceSchema = {
      ...EMPTY_SCHEMA,
      formats: [...Array(2100).keys()].map((id) =>
        format(id, `message ${id} a={} b={}`, [ArgType.INT8, ArgType.INT8]),
      ),
    };
    const bytes = await written(schema, (writer) => {
      for (let i = 0; i < 4200; i++) {
        writer.event({ cycle: BigInt(i), formatId: i % 2100, category: 0, source: i % 2 }, [i % 100, 1]);
      }
    });
    expect(await contentOf(await roundTrip(bytes))).toEqual(await contentOf(bytes));
  });

  it('keeps files that other files may look like', async () => {
    const values: fc.Arbitrary<CtraceValue>[] = [
      ...[8, 16, 32].map((bits) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })),
      fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
      ...[8, 16, 32].map((bits) => fc.integer({ min: 0, max: 2 ** bits - 1 })),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      fc.float({ noNaN: true }),
      fc.double({ noNaN: true }),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      fc.boolean(),
    ];
    const text = fc.string({ unit: fc.constantFrom(...'ab{}:=xé ', '\0', '\udcff', '{}', '{:x}') });
    const types = fc.array(fc.integer({ min: 1, max: 13 }), { maxLength: 4 });
    const shapes = fc.array(fc.record({ text, file: text, types }), { minLength: 1, maxLength: 5 });
    const file = shapes.chain((formats) =>
      fc.record({
        formats: fc.constant(formats),
        units: fc.uniqueArray(fc.nat(65_535), { maxLength: 3 }),
        unitName: text,
        events: fc.array(
          fc.nat(formats.length - 1).chain((which) =>
            fc.record({
              which: fc.constant(which),
              cycle: fc.bigInt({ min: 0n, max: 1n << 40n }),
              category: fc.nat(0xffff_ffff),
              source: fc.nat(65_535),
              values: fc.tuple(...formats[which].types.map((type) => values[type - 1])),
            }),
          ),
          { maxLength: 12 },
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(file, async ({ formats, units, unitName, events }) => {
        const schema = {
          ...{ ...EMPTY_SCHEMA, simulationName: unitName },
          formats: formats.map(({ text, file, types }, id) => format(id, text, types, { file })),
          units: units.map((id) => ({ id, name: unitName, typeName: '' })),
        };
        const bytes = await written(schema, (writer) => {
          for (const { which, values, ...head } of events) writer.event({ ...head, formatId: which }, values);
        });
        const again = await roundTrip(bytes);
        expect(await contentOf(again)).toEqual(await contentOf(bytes));
        expect(await dump(again)).toBe(await dump(bytes));
      }),
      { numRuns: cases(10) },
    );
  });

  it.each(['all_comp', 'all_nocomp', 'empty', 'noindex', 'noschema', 'tinyblock_incompressible'])(
    'keeps the file %s of the existing writer',
    async (name) => {
      const bytes = new Uint8Array(readFileSync(`${VECTORS}${name}.ctrace`));
      const again = await roundTrip(bytes);
      expect(await contentOf(again)).toEqual(await contentOf(bytes));
      expect(await dump(again)).toBe(await dump(bytes));
    },
  );

  it.skipIf(lacks('samples of other tools', existsSync(LARGE)))(
    'keeps the 33,725 events of a larger one',
    async () => {
      const bytes = new Uint8Array(readFileSync(LARGE));
      const stored = async (all: Uint8Array): Promise<string> => {
        const { cursor, more } = await streamOf(all);
        let text = '';
        while (await more()) {
          while (cursor.next()) {
            const { cycleLo, cycleHi, formatId, category, source, argCount } = cursor;
            text += `${cycleHi} ${cycleLo} ${formatId} ${category} ${source} ${argCount}\n`;
          }
        }
        return text;
      };
      const again = await roundTrip(bytes);
      expect(await dump(again)).toBe(await dump(bytes));
      expect(await stored(again)).toBe(await stored(bytes));
    },
  );
});

async function streamOf(bytes: Uint8Array) {
  const stream = (await CtraceFile.open(memorySource(bytes))).stream();
  return { cursor: stream.cursor, more: () => stream.more() };
}

describe('any trace', () => {
  it('becomes messages at cycles of its clock, and what is lost is reported', async () => {
    const builder = new TraceBuilder({
      schema: coreSchema,
      compression: 'lz4',
      dut: [['vendor', 'x']],
    }).segment({
      frames: [
        frame(0, set(1, 0, 0, 7), prop(1, 1, 0), add(3, 0, 0, 5)),
        frame(1000),
        frame(1500, stage(3, 1), set(0, 3, 2, -5), clear(1, 0)),
      ],
    });
    const [input, output] = [join(directory, 'core.uscope'), join(directory, 'core.ctrace')];
    await writeFile(input, builder.finalize().bytes);
    const { steps } = await run(input, output, [USCOPE, FORMAT]);
    const text = await dump(new Uint8Array(await readFile(output)));
    expect(text.trimEnd().split('\n')).toMatchInlineSnapshot(`
      [
        "[         0] core0: rob.set slot=0 entity_id=7",
        "[         0] core0: rob.prop label=#0",
        "[         0] core0: retired.add slot=0 count=5",
        "[         1] core0: stage_transition entity_id=3 stage=execute",
        "[         1] core0: entities.set slot=3 delta=-5",
        "[         1] core0: rob.clear slot=0",
      ]
    `);
    expect(
      steps[0].report.rows.map(({ fate, what, count }) => `${fate} ${what} ${count}`),
    ).toMatchInlineSnapshot(`
      [
        "kept events 1",
        "approximated enums 1",
        "approximated ops of storages 5",
        "approximated times between cycles 3",
        "dropped DUT properties 1",
        "dropped storage definitions 4",
        "dropped frames without items 1",
      ]
    `);
  });

  it('that is a part of one made of .ctrace is still told as messages', async () => {
    const [input, trace, part, output] = ['p.ctrace', 'p.uscope', 'part.uscope', 'part.ctrace'].map((name) =>
      join(directory, name),
    );
    await writeFile(
      input,
      await written(SCHEMA, (writer) => {
        writer.event({ cycle: 1n, formatId: 1, category: 0, source: 1 }, []);
        writer.event({ cycle: 90n, formatId: 2, category: 5, source: 2 }, EVERY_TYPE);
      }),
    );
    await run(input, trace, [FORMAT, USCOPE]);
    const whole = await openTraceFile(trace);
    await sliceTrace(whole, { path: part, name: 'p', from: 2000n });
    await whole.close();
    const warnings: string[] = [];
    await run(part, output, [USCOPE, FORMAT], {}, (message) => warnings.push(message));
    expect(warnings.join()).toMatch(/part of one made of \.ctrace/);
    const text = await dump(new Uint8Array(await readFile(output)));
    expect(text).toMatch(/^\[ {8}90\] cpu_fetch: every_type t1=-128 .* category=5\n$/);
  });
});
