/** Bytes that are not STF, or not all of it: a coded error at its place, in bounded time and memory. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { everyRecord, everyTransaction, header, written } from '../../../../test/support/stf-records.js';
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import { memorySource } from '../../reader/index.js';
import { MemoryOutput, StfFile, type StfRecord, StfType, StfWriter } from './index.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

async function read(
  bytes: Uint8Array,
  javaScriptOnly = false,
): Promise<{ count: number; error: UscopeError | null }> {
  let count = 0;
  try {
    const file = await StfFile.open(memorySource(bytes));
    const stream = await file.stream({ javaScriptOnly });
    while (await stream.more()) while (stream.next()) count++;
    return { count, error: null };
  } catch (error) {
    if (isUscopeError(error)) return { count, error };
    throw error;
  }
}

const code = async (bytes: Uint8Array): Promise<string | undefined> => (await read(bytes)).error?.code;
const bytesOf = (...parts: readonly (readonly number[] | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

const OPERANDS: readonly number[] = [
  StfType.INST_PC_TARGET,
  StfType.INST_REG,
  StfType.INST_READY_REG,
  StfType.INST_MEM_ACCESS,
  StfType.INST_MEM_CONTENT,
];

describe('a file cut at every byte', () => {
  it.each([
    ['instructions', everyRecord()],
    ['transactions', everyTransaction()],
  ])('of %s: every whole record is delivered, then the cut is reported', async (_, records) => {
    const bytes = await written(records);
    const ends: number[] = [];
    const stream = await (await StfFile.open(memorySource(bytes))).stream();
    while (await stream.more())
      while (stream.next()) ends.push(stream.cursor.streamOffset + stream.cursor.size);
    const headerEnd = ends[records.findIndex(({ type }) => type === StfType.END_HEADER)];
    for (let length = 4; length < bytes.length; length++) {
      const { count, error } = await read(bytes.subarray(0, length));
      expect(count).toBe(ends.filter((end) => end <= length).length);
      // An access or a register without its instruction reveals the cut, too.
      const last = records[ends.indexOf(length)]?.type ?? 0;
      const isOperand = OPERANDS.includes(last);
      const isWhole = length >= headerEnd && ends.includes(length) && !isOperand;
      expect(error?.code).toBe(isWhole ? undefined : 'CONVERT_TRUNCATED');
      if (error) expect(error.place.offset).toBe(Math.max(0, ...ends.filter((end) => end <= length)));
    }
  });

  it('in gzip: what can be unpacked is delivered', async () => {
    const bytes = gzipSync(await written(everyRecord()));
    for (let length = 20; length < bytes.length; length += 7) {
      expect(await code(bytes.subarray(0, length))).toBe('CONVERT_TRUNCATED');
    }
  });

  it.skipIf(lacks('zstd-napi', canCompressZstd()))(
    'in chunks: a file without index is read from front to end',
    async () => {
      const bytes = await written(everyRecord(), { container: 'zstf', markersPerChunk: 2 });
      const whole = await read(bytes);
      expect(whole).toEqual({ count: everyRecord().length, error: null });
      for (let length = 4; length < bytes.length; length++) {
        const cut = await read(bytes.subarray(0, length), length % 2 === 0);
        expect(cut.error?.code).toBe('CONVERT_TRUNCATED');
        expect(cut.count).toBeLessThanOrEqual(whole.count);
      }
      expect((await read(bytes.subarray(0, bytes.length - 1))).count).toBe(whole.count);
    },
  );
});

describe('bytes that change', () => {
  const files = async (): Promise<Uint8Array[]> => {
    const plain = await written(everyRecord());
    const packed = canCompressZstd()
      ? [await written(everyRecord(), { container: 'zstf', markersPerChunk: 2 })]
      : [];
    return [plain, await written(everyTransaction()), gzipSync(plain), ...packed];
  };

  it('give a coded error or other records, never anything else', async () => {
    const originals = await files();
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(originals.length - 1),
        flips,
        fc.boolean(),
        async (which, changes, javaScriptOnly) => {
          const bytes = new Uint8Array(originals[which]);
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          const { error } = await read(bytes, javaScriptOnly);
          if (error) expect(error.code).toMatch(/^CONVERT_/);
        },
      ),
      { numRuns: 600 },
    );
  });
});

describe('promises of more than there is', () => {
  it('in texts, chunks and windows are not believed', async () => {
    const start = (await written(header(1, 0n))).subarray(0, 13);
    expect(await code(bytesOf(start, [3, 0xff, 0xff, 0xff, 0xff]))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(start, [3, 0xff, 0xff, 0, 0, 65]))).toBe('CONVERT_TRUNCATED');
    expect(await code(bytesOf(start, [10, 0xff, 0xff, 0xff, 0xff]))).toBe('CONVERT_LIMIT');
    const zstf = (end: bigint, ...rest: readonly (readonly number[])[]): Uint8Array => {
      const head = new DataView(new ArrayBuffer(20));
      new Uint8Array(head.buffer).set([0x5a, 0x53, 0x54, 0x46]);
      head.setBigUint64(4, 4n, true);
      head.setBigInt64(12, end, true);
      return bytesOf(new Uint8Array(head.buffer), ...rest);
    };
    const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];
    const frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 1, 0, 0];
    const index = (size: bigint): number[] => [...u64(1n), ...u64(20n), ...u64(0n), ...u64(size)];
    expect(await code(zstf(29n, frame, index(1n << 62n)))).toBe('CONVERT_LIMIT');
    expect(await code(zstf(29n, frame, index(5n)))).toBe('CONVERT_FORMAT');
    expect(await code(zstf(29n, frame, u64(1n << 60n)))).toBe('CONVERT_TRUNCATED');
    expect(await code(zstf(-5n, frame))).toBe('CONVERT_FORMAT');
    expect(await code(zstf(1n << 62n, frame))).toBe('CONVERT_TRUNCATED');
    const wide = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1, 0, 0];
    expect(await code(zstf(29n, wide, index(5n)))).toBe('CONVERT_LIMIT');
  });
});

describe('the rules of headers', () => {
  const without = (type: number): StfRecord[] => header(2, 0n).filter((record) => record.type !== type);
  const raw = async (records: readonly StfRecord[]): Promise<string | undefined> => {
    const { encodeRecord } = await import('./encode.js');
    const { ByteWriter } = await import('../../base/bytes.js');
    const out = new ByteWriter();
    for (const record of records) encodeRecord(out, record, { event64: true, vlen: 64 });
    return code(out.finish());
  };

  it.each([4, 5, 6, 7, 9])('record %i must be there', async (type) => {
    expect(await raw(without(type))).toBe('CONVERT_FORMAT');
    expect(await raw(header(2, 0n))).toBeUndefined();
  });

  it('refuse what is there twice, at the wrong place, of no known version or vector length', async () => {
    const isa = { type: StfType.ISA, isa: 1 } as const;
    expect(await raw(header(2, 0n, isa))).toBe('CONVERT_FORMAT');
    expect(await raw([...header(2, 0n), isa])).toBe('CONVERT_FORMAT');
    expect(await raw(header(2, 0n, { type: StfType.INST_OPCODE32, bits: 3 }))).toBe('CONVERT_FORMAT');
    const version = (major: number, minor: number): StfRecord[] =>
      header(2, 0n).map((record) => (record.type === 2 ? { type: 2, major, minor } : record));
    expect(await raw(version(1, 1))).toBe('CONVERT_UNSUPPORTED');
    expect(await raw(version(1, 9))).toBeUndefined();
    const vector = { type: StfType.INST_REG, register: 1, meta: 0x13, values: [1n] } as const;
    expect(await raw([...header(2, 0n), vector])).toBe('CONVERT_FORMAT');
  });

  it('hold for the writer, which leaves the file as it was', async () => {
    const output = new MemoryOutput();
    const writer = new StfWriter(output);
    for (const record of header(2, 0n)) writer.record(record);
    expect(() => writer.record({ type: StfType.ISA, isa: 1 })).toThrow(/CONVERT_SOURCE.*ISA/);
    expect(() => writer.record({ type: StfType.INST_REG, register: 1, meta: 0x11, values: [] })).toThrow(
      /CONVERT_SOURCE/,
    );
    writer.opcode(0x13);
    await writer.close();
    expect(await read(output.bytes)).toEqual({ count: header(2, 0n).length + 1, error: null });
    const open = new StfWriter(new MemoryOutput());
    open.record({ type: StfType.IDENTIFIER });
    await expect(open.close()).rejects.toThrow(/CONVERT_SOURCE/);
  });
});
