/** The files of test/vectors/stf: what was written once is read and written the same way for ever. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contextOf } from '../../../../test/support/foreign.js';
import { lacks } from '../../../../test/support/needs.js';
import { everyRecord, everyTransaction, header, written } from '../../../../test/support/stf-records.js';
import { isUscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import { memorySource } from '../../reader/index.js';
import { openSource, openTraceFile } from '../../reader/node.js';
import { examineTrace } from '../../tools/doctor/index.js';
import { FORMAT } from './format.js';
import { listRecord, StfFeature, StfFile, type StfRecord, StfType } from './index.js';

const vector = (name: string): Uint8Array =>
  new Uint8Array(
    readFileSync(fileURLToPath(new URL(`../../../../test/vectors/stf/${name}`, import.meta.url))),
  );

async function read(bytes: Uint8Array): Promise<{ records: StfRecord[]; lines: string[] }> {
  const file = await StfFile.open(memorySource(bytes));
  const records: StfRecord[] = [];
  for await (const record of file.records()) records.push(record);
  const lines: string[] = [];
  const stream = await file.stream();
  while (await stream.more()) while (stream.next()) lines.push(listRecord(stream.cursor).trimEnd());
  return { records, lines };
}

it.each([
  ['code-right', []],
  ['code-wide', ['width']],
])('%s.stf: code of 2 bytes that was written as 4 is found', async (name, kinds) => {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-stf-'));
  try {
    const context = contextOf();
    const foreign = await FORMAT.open!(memorySource(vector(`${name}.stf`)), context.options);
    const path = join(directory, 'out.uscope');
    await foreign.toUscope({ path }, context);
    const trace = await openTraceFile(await openSource(path));
    const { findings } = await examineTrace(trace);
    expect(findings.map(({ kind }) => kind)).toEqual(kinds);
    await trace.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

describe.each([
  ['every-record', everyRecord()],
  ['every-transaction', everyTransaction()],
])('%s', (name, records) => {
  const packings = name === 'every-record' ? ['.stf', '.zstf', '.stf.gz', '.stf.xz'] : ['.stf', '.zstf'];

  it.each(packings)('%s holds the records and is listed as before', async (extension) => {
    const found = await read(vector(name + extension));
    expect(found.records).toEqual(records);
    expect(`${found.lines.join('\n')}\n`).toBe(new TextDecoder().decode(vector(`${name}.txt`)));
    expect(await FORMAT.sniff!(vector(name + extension).subarray(0, 4096))).toBe(true);
  });

  it('is written byte for byte', async () => {
    expect(Buffer.from(await written(records)).equals(vector(`${name}.stf`))).toBe(true);
  });

  it.skipIf(lacks('zstd-napi', canCompressZstd()))(
    'has chunks of two instructions that begin where they should',
    async () => {
      const shape = async (bytes: Uint8Array) => {
        const { index } = await StfFile.open(memorySource(bytes));
        return index!.chunks.map(({ startPc, size }) => ({ startPc, size }));
      };
      const options = { container: 'zstf', markersPerChunk: 2 } as const;
      expect(await shape(await written(records, options))).toEqual(await shape(vector(`${name}.zstf`)));
    },
  );
});

describe('a trace opened as a foreign file', () => {
  const open = (name: string) => FORMAT.open!(memorySource(vector(name)), new Map());
  const context = { options: new Map(), report: null as never };

  it('describes, counts and lists itself', async () => {
    const trace = await open('every-record.zstf');
    expect([trace.description, trace.timeUnit]).toEqual(['STF 1.6 (zstf, chunked zstd)', 'instructions']);
    const info = await trace.info(context);
    const rows = new Map(info.flatMap(({ rows }) => rows));
    expect(rows.get('features')).toBe('EVENT, RV64, VEC, EVENT64');
    expect(rows.get('instructions')).toBe('5');
    expect(rows.get('INST_OPCODE32')).toBe('4');
    expect(rows.get('first pc')).toBe('0x80000000');
    const stats = new Map((await trace.stats!(context)).flatMap(({ rows }) => rows));
    expect(Object.fromEntries(stats)).toMatchObject({ 'compressed instructions': '1', 'memory reads': '1' });
    const lines: string[] = [];
    for await (const line of trace.dump({ json: true })) lines.push(line);
    expect(lines.slice(0, 3).map((line) => JSON.parse(line).type)).toEqual(['IDENTIFIER', 'VERSION', 'ISA']);
    const events = [];
    for await (const event of trace.events!()) events.push(event);
    expect(events.at(-2)).toEqual({
      time: 4n,
      type: 'INST_OPCODE32',
      fields: [
        ['pc', 0n],
        ['bits', 0x33],
      ],
    });
  });

  it('has as its first pc that of the first instruction, whatever FORCE_PC said before', async () => {
    const records: StfRecord[] = [
      ...header(2, 1n << BigInt(StfFeature.RV64)),
      { type: StfType.FORCE_PC, pc: 0x1000n },
      { type: StfType.INST_OPCODE32, bits: 0x13 },
      { type: StfType.INST_OPCODE32, bits: 0x13 },
    ];
    const trace = await FORMAT.open!(memorySource(await written(records)), new Map());
    const [, content] = await trace.info(context);
    expect(content.rows).toContainEqual(['first pc', '0x1000']);
  });

  it('is not taken for one when it is none', async () => {
    expect(await FORMAT.sniff!(Uint8Array.of(1, 2, 3))).toBe(false);
    expect(await FORMAT.sniff!(new Uint8Array(0))).toBe(false);
    await expect(FORMAT.open!(memorySource(Uint8Array.of(7, 7)), new Map())).rejects.toThrow(
      /CONVERT_UNKNOWN/,
    );
  });
});

describe('xz', () => {
  it('with bytes changed, or cut, ends with a coded error', async () => {
    const original = vector('every-record.stf.xz');
    const codeOf = async (bytes: Uint8Array): Promise<string | null> =>
      read(bytes).then(
        () => null,
        (error: unknown) => (isUscopeError(error) ? error.code : String(error)),
      );
    for (let at = 6; at < original.length; at += 5) {
      expect(await codeOf(original.subarray(0, at))).toBe('CONVERT_TRUNCATED');
      const changed = original.map((byte, i) => (i === at ? byte ^ 0x55 : byte));
      expect(await codeOf(changed)).toMatch(/^CONVERT_(FORMAT|TRUNCATED|LIMIT)$/);
    }
  });
});
