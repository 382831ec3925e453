/** STF to µScope and back: the record stream is the same, and the µScope trace is one that the tools for cores understand. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles } from '../../../../test/support/foreign.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { everyRecord, everyTransaction, header, written } from '../../../../test/support/stf-records.js';
import { Action } from '../../format/types.js';
import { memorySource } from '../../reader/index.js';
import { openSource, openTraceFile } from '../../reader/node.js';
import { findCore, type Instruction } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { verifyTrace } from '../../tools/verify/index.js';
import { FORMAT } from './format.js';
import { StfFile, type StfRecord, StfType } from './index.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/stf/', import.meta.url));
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-stf-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let count = 0;
async function toTrace(bytes: Uint8Array) {
  const path = join(directory, `${count++}.uscope`);
  const context = contextOf();
  const foreign = await FORMAT.open!(memorySource(bytes), new Map());
  await foreign.toUscope({ path }, context);
  return {
    path,
    trace: await openTraceFile(path),
    report: context.report,
    warnings: context.warnings,
    foreign,
  };
}

async function toStf(path: string, options: Record<string, string> = {}) {
  const trace = await openTraceFile(path);
  const outputs = new MemoryFiles();
  const context = contextOf(options);
  try {
    await FORMAT.write!(trace, outputs, '.stf', context);
  } finally {
    await trace.close();
  }
  return { outputs, report: context.report, warnings: context.warnings };
}

async function recordsOf(bytes: Uint8Array): Promise<StfRecord[]> {
  const records: StfRecord[] = [];
  for await (const record of (await StfFile.open(memorySource(bytes))).records()) records.push(record);
  return records;
}

async function payloadOf(bytes: Uint8Array): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await StfFile.open(memorySource(bytes))).payload()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function expectRoundTrip(bytes: Uint8Array): Promise<string> {
  const { path, trace } = await toTrace(bytes);
  await trace.close();
  const { outputs, report } = await toStf(path);
  if (bytes.length < 100_000) expect(await recordsOf(outputs.bytes())).toEqual(await recordsOf(bytes));
  expect(Buffer.from(outputs.bytes()).equals(await payloadOf(bytes))).toBe(true);
  expect(report.unwaived()).toEqual([]);
  return path;
}

describe('the record stream', () => {
  it('of every kind of record comes back', async () => {
    await expectRoundTrip(await written(everyRecord()));
  });
  it('of every kind of transaction comes back', async () =>
    expectRoundTrip(await written(everyTransaction())));

  it('comes back of a text larger than a frame', async () => {
    const text = Uint8Array.from({ length: 700_000 }, (_, i) => (i * 7) & 0xff);
    await expectRoundTrip(await written([...header(1, 0n, { type: StfType.COMMENT, text })]));
  });

  const valid = existsSync(SAMPLES)
    ? [...readdirSync(SAMPLES), ...readdirSync(`${SAMPLES}edge`).map((name) => `edge/${name}`)].filter(
        (name) =>
          /\.(z?stf|gz|xz)$/.test(name) &&
          !/baddesc|noiem|trunc|v20/.test(name) &&
          name !== 'header_only.zstf',
      )
    : [];
  it.skipIf(lacks('samples of other tools', valid.length))('of every sample comes back', async () => {
    expect(valid.length).toBeGreaterThan(20);
    // The one large file has its turn with the targets of its jumps.
    const small = valid.filter((name) => !name.startsWith('olympia__dhrystone'));
    for (const name of small) await expectRoundTrip(readFileSync(SAMPLES + name));
  });
});

describe('the hart', () => {
  let made: Awaited<ReturnType<typeof toTrace>>;
  const life: Instruction[] = [];
  beforeAll(async () => {
    made = await toTrace(await written(everyRecord()));
    for await (const one of instructions(made.trace, findCore(made.trace))) life.push(one);
  });
  afterAll(() => made.trace.close());

  it('has every instruction with its address and code, one a cycle', () => {
    expect(life.map(({ pc, bits }) => [pc, bits])).toEqual([
      [0x8000_0000n, 0x13],
      [0x9000_0000n, 0xa001],
      [0x9000_0100n, 0x503],
      [0xffff_ffff_ffff_fffcn, 0x33],
      [0n, 0x33],
    ]);
    expect(life.map(({ birthPs }) => birthPs)).toEqual([0n, 1000n, 2000n, 3000n, 4000n]);
    expect(life.map(({ endPs }) => endPs)).toEqual([1000n, 2000n, 3000n, 4000n, 5000n]);
  });

  it('uses two slots in turn, so that what repeats in the program repeats in the file', async () => {
    const { storageId } = made.trace.schema.storages.find(({ name }) => name === 'entities')!;
    const slots: number[] = [];
    await made.trace.scan(
      {},
      {
        op: (op) => {
          if (op.storageId === storageId && op.action === Action.SET && op.field === 0) slots.push(op.slot);
        },
      },
    );
    expect(slots).toEqual([0, 1, 0, 1, 0]);
  });

  it('tells traps, and does not count what did not take effect', () => {
    expect(life.map(({ trap }) => trap && [trap.cause, trap.tval, trap.target])).toEqual([
      [(1n << 63n) | 7n, 0n, 0x9000_0000n],
      null,
      [13n, 0x10n, 0x9000_0200n],
      null,
      null,
    ]);
    expect(life.map(({ end }) => end)).toEqual(['retired', 'retired', 'squashed', 'retired', 'retired']);
  });

  it('says that its times are made up', () => {
    expect(made.trace.dutProperty('time.synthetic')).toBe('1 instruction = 1 cycle');
    expect(made.report.rows).toContainEqual({
      fate: 'approximated',
      what: 'times of instructions',
      how: 'STF has none: one cycle each',
      count: 5n,
    });
  });

  it('is in a file that passes every check', async () => {
    const source = await openSource(made.path);
    const { ok, findings } = await verifyTrace(source);
    await source.close?.();
    expect({ ok, findings }).toEqual({ ok: true, findings: [] });
  });
});

describe('a cut file', () => {
  it('becomes a trace of what is there, and is reported', async () => {
    const bytes = await written(everyRecord());
    const { trace, warnings, foreign, path } = await toTrace(bytes.subarray(0, bytes.length - 40));
    await trace.close();
    expect(foreign.isPartial).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('CONVERT_TRUNCATED')]);
    const { outputs } = await toStf(path);
    const back = await recordsOf(outputs.bytes());
    expect(back).toEqual((await recordsOf(bytes)).slice(0, back.length));
    expect(back.length).toBeGreaterThan(30);
  });
});

describe.skipIf(lacks('samples of other tools', existsSync(SAMPLES)))('targets of jumps', () => {
  it.each([
    'olympia__dhrystone_opt2.zstf',
    'olympia__bmi_pmp.bare.stf',
    'stf_lib__stf_write_test.zstf',
    'loop.stf',
  ])(
    'of %s, which comes back, are rebuilt from addresses and bits',
    { timeout: MANY_CASES_MS },
    async (name) => {
      const bytes = readFileSync(SAMPLES + name);
      const flowOf = (records: readonly StfRecord[]) =>
        records.flatMap((one): (number | bigint)[] =>
          one.type === 31 ? [one.pc] : one.type === 240 || one.type === 241 ? [one.bits] : [],
        );
      const { path, trace } = await toTrace(bytes);
      await trace.close();
      const { outputs } = await toStf(path, { content: 'instructions' });
      const [rebuilt, original] = [flowOf(await recordsOf(outputs.bytes())), flowOf(await recordsOf(bytes))];
      expect(rebuilt.findIndex((one, i) => one !== original[i])).toBe(-1);
      expect(rebuilt.length).toBe(original.length);
    },
  );
});
