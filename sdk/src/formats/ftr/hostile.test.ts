/** Bytes that are not FTR, or not all of it: everything before the fault, then a coded error at its place, in bounded time and memory. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encoded, everything, written } from '../../../../test/support/ftr-fixtures.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import { CborWriter } from './cbor.js';
import { encodeContent } from './encode.js';
import { FtrFile, FtrModel, type FtrTransaction, MAGIC, TransactionCursor } from './index.js';
import { FtrTag } from './types.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

async function read(bytes: Uint8Array) {
  const transactions: FtrTransaction[] = [];
  const model = new FtrModel();
  let records = 0;
  let error: UscopeError | null = null;
  try {
    const file = await FtrFile.open(memorySource(bytes));
    for await (const chunk of file.chunks()) {
      records++;
      if (model.take(chunk) || chunk.kind !== 'transactions') continue;
      const cursor = new TransactionCursor(chunk);
      while (cursor.next()) transactions.push(model.transaction(cursor, chunk.stream));
    }
  } catch (thrown) {
    if (!isUscopeError(thrown)) throw thrown;
    error = thrown;
  }
  return { transactions, records, error, model };
}

const code = async (bytes: Uint8Array): Promise<string | undefined> => (await read(bytes)).error?.code;

/** A file of one chunk with this content. */
function chunk(tag: number, head: readonly bigint[], content: readonly number[] | Uint8Array): Uint8Array {
  const out = new CborWriter();
  out.raw(Uint8Array.from(MAGIC));
  encodeContent(out, tag, head, Uint8Array.from(content), false);
  out.byte(0xff);
  return out.written.slice();
}

const raw = (...bytes: readonly number[]): Uint8Array => Uint8Array.from([...MAGIC, ...bytes]);

describe('a file cut at every byte', () => {
  it.each(['none', 'lz4'] as const)(
    '(compression %s) gives what is there, then the cut',
    async (compression) => {
      const bytes = await written(everything(), { compression });
      const whole = await read(bytes);
      expect(whole.error).toBeNull();
      let most = 0;
      for (let length = 0; length < bytes.length; length++) {
        const { transactions, error, model } = await read(bytes.subarray(0, length));
        expect(error?.code).toBe('CONVERT_TRUNCATED');
        expect(error?.place.offset).toBeLessThanOrEqual(length);
        expect(transactions).toEqual(whole.transactions.slice(0, transactions.length));
        expect(model.declarations).toEqual(whole.model.declarations.slice(0, model.declarations.length));
        expect(transactions.length).toBeGreaterThanOrEqual(most);
        most = transactions.length;
      }
      expect(most).toBe(whole.transactions.length);
    },
  );

  it('inside a plain block gives the transactions before the cut', async () => {
    const bytes = await written(everything(), { compression: 'none' });
    const counts = new Set<number>();
    for (let length = 0; length < bytes.length; length++)
      counts.add((await read(bytes.subarray(0, length))).transactions.length);
    expect([...counts]).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('bytes that change', () => {
  it('give a coded error or other records, never anything else', async () => {
    const originals = [
      await written(everything(), { compression: 'none' }),
      await written(everything(), { compression: 'lz4' }),
    ];
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.nat(1), flips, async (which, changes) => {
        const bytes = new Uint8Array(originals[which]);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const { error } = await read(bytes);
        if (error) expect(error.code).toMatch(/^CONVERT_/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('promises of more than there is', () => {
  it('are not believed', async () => {
    const huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    expect(await code(raw(0xc8, 0x5b, ...huge))).toBe('CONVERT_LIMIT');
    expect(await code(raw(0xc8, 0x5a, 0x0f, 0, 0, 0, 0xa1))).toBe('CONVERT_TRUNCATED');
    expect(await code(raw(0xc9, 0x82, 0x1b, ...huge, 0x41, 0))).toBe('CONVERT_LIMIT');
    expect(await code(raw(0xc9, 0x82, 0x1a, 0x0f, 0, 0, 0, 0x41, 0, 0xff))).toBe('CONVERT_FORMAT');
    expect(await code(raw(0xc9, 0x82, 0x1a, 0x0f, 0, 0, 0, 0x45, 0))).toBe('CONVERT_TRUNCATED');
    expect(await code(chunk(FtrTag.DICTIONARY, [], [0xbb, ...huge]))).toBe('CONVERT_FORMAT');
    expect(await code(chunk(FtrTag.DICTIONARY, [], [0xa1, 0, 0x7b, ...huge]))).toBe('CONVERT_FORMAT');
    expect(await code(chunk(FtrTag.DICTIONARY, [], [0xa1, 0x1b, ...huge, 0x60]))).toBe('CONVERT_LIMIT');
    expect(await code(chunk(FtrTag.TRANSACTIONS, [1n, 0n, 0n], [0x9b, ...huge]))).toBe('CONVERT_FORMAT');
    expect(
      await code(chunk(FtrTag.TRANSACTIONS, [1n, 0n, 0n], [0x9f, 0x9b, ...huge, 0xc6, 0x84, 1, 2, 3, 4])),
    ).toBe('CONVERT_FORMAT');
  });

  it('of other kinds are reported with their place', async () => {
    const wrong: [Uint8Array, string, number][] = [
      [raw(0xd8, 0x63, 0x40), 'CONVERT_UNSUPPORTED', 4],
      [raw(0x01), 'CONVERT_FORMAT', 4],
      [raw(0xc8, 0x5f), 'CONVERT_UNSUPPORTED', 4],
      [raw(0xc8, 0x01), 'CONVERT_FORMAT', 4],
      [chunk(FtrTag.DIRECTORY, [], [0x9f, 0xd2, 0x83, 1, 2, 3, 0xff]), 'CONVERT_FORMAT', 7],
      // An attribute of type 13, and a BOOLEAN that is a float.
      [
        chunk(FtrTag.TRANSACTIONS, [1n, 0n, 0n], [0x81, 0x82, 0xc6, 0x84, 1, 2, 3, 4, 0xc7, 0x83, 0, 13, 0]),
        'CONVERT_FORMAT',
        11,
      ],
      [
        chunk(
          FtrTag.TRANSACTIONS,
          [1n, 0n, 0n],
          [0x81, 0x82, 0xc6, 0x84, 1, 2, 3, 4, 0xc7, 0x83, 0, 0, 0xf9, 0, 0],
        ),
        'CONVERT_FORMAT',
        11,
      ],
    ];
    for (const [bytes, expected, offset] of wrong) {
      const { error } = await read(bytes);
      expect([error?.code, error?.place.offset]).toEqual([expected, offset]);
    }
    await expect(FtrFile.open(memorySource(Uint8Array.of(1, 2, 3, 4)))).rejects.toThrow(/CONVERT_UNKNOWN/);
  });
});

describe('old forms', () => {
  it('of header, chunks, blocks, dictionaries and texts are read', async () => {
    const { error, model, transactions } = await read(
      raw(
        // [1, 10^12, epoch], a dictionary without length in an array of one, a directory of stated length.
        ...[0xc6, 0x50, 0x83, 0x01, 0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0x00, 0x1a, 0x6b, 0, 0x2d, 0xa6],
        ...[0xc8, 0x81, 0x47, 0xbf, 0, 0x60, 1, 0x61, 0x73, 0xff],
        0xff,
      ),
    );
    expect(error).toBeNull();
    expect(model.info).toEqual({ kind: 'info', exponent: -12, epoch: 0x6b002da6n });
    expect(model.dictionary.get(1)).toBe('s');
    expect(transactions).toEqual([]);
  });

  it('of blocks, relations and types', async () => {
    const block = [0x81, 0x82, 0xc6, 0x84, 1, 2, 3, 4, 0xc8, 0x83, 0, 12, 1];
    const { error, transactions, model } = await read(
      raw(
        ...[0xc8, 0x46, 0xa2, 0, 0x60, 1, 0x61, 0x73],
        ...[0xca, 0x4b, 0x82, 0xd0, 0x83, 1, 1, 1, 0xd1, 0x83, 2, 1, 1],
        ...[0xcc, 0x82, 1, 0x40 + block.length, ...block],
        ...[0xce, 0x46, 0x9f, 0x83, 1, 1, 2, 0xff],
        0xff,
      ),
    );
    expect(error).toBeNull();
    expect(model.hasInfo).toBe(false);
    expect(transactions).toEqual([
      {
        id: 1n,
        stream: 1n,
        generator: 2n,
        start: 3n,
        end: 4n,
        attributes: [{ phase: 1, name: '', type: 10, value: 's' }],
      },
    ]);
    const file = await FtrFile.open(memorySource(raw(0xce, 0x46, 0x9f, 0x83, 1, 1, 2, 0xff, 0xff)));
    const relations = [];
    for await (const record of file.records())
      if (record.kind === 'relations') relations.push(...record.relations);
    expect(relations).toEqual([{ name: 1, source: 1n, sink: 2n, sourceStream: null, sinkStream: null }]);
  });

  it('values of UNSIGNED below 0 count from 2^64 down, texts that are missing are numbers', async () => {
    const attribute = (type: number, form: 0 | 1, bits: bigint) => ({
      phase: 0 as const,
      name: 9,
      type,
      form,
      bits,
    });
    const transaction = { id: 1n, generator: 2n, start: 3n, end: 4n };
    const bytes = encoded([
      {
        kind: 'transactions',
        stream: 1n,
        start: 0n,
        end: 0n,
        transactions: [
          { ...transaction, attributes: [attribute(3, 1, 0n), attribute(4, 0, 3n), attribute(10, 0, 7n)] },
        ],
      },
    ]);
    const [{ attributes }] = (await read(bytes)).transactions;
    expect(attributes.map(({ name, value }) => [name, value])).toEqual([
      ['#9', (1n << 64n) - 1n],
      ['#9', 3],
      ['#9', '#7'],
    ]);
  });
});
