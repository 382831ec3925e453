/** Bytes that are not .ctrace, or not all of it: a coded error at its place, in bounded time and memory. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentOf, everything, SCHEMA, written } from '../../../../test/support/ctrace-files.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import { memorySource } from '../../reader/index.js';
import { CtraceFile, type CtraceReadOptions, CtraceWriter, EMPTY_SCHEMA } from './index.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

interface Reading {
  readonly events: unknown[];
  readonly warnings: readonly string[];
  readonly error: UscopeError | null;
}

async function read(bytes: Uint8Array, options: CtraceReadOptions = {}): Promise<Reading> {
  const events: unknown[] = [];
  let warnings: readonly string[] = [];
  try {
    const file = await CtraceFile.open(memorySource(bytes));
    warnings = file.warnings;
    for await (const event of file.events(options)) events.push(event);
    return { events, warnings, error: null };
  } catch (error) {
    if (isUscopeError(error)) return { events, warnings, error };
    throw error;
  }
}

const code = async (bytes: Uint8Array): Promise<string | undefined> => (await read(bytes)).error?.code;

/** Three blocks of five events. */
async function small(compression: 'zstd' | 'none'): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let header = new Uint8Array(0);
  const output = {
    write: async (bytes: Uint8Array) => void pieces.push(bytes.slice()),
    patch: async (_: number, bytes: Uint8Array) => {
      header = bytes.slice();
    },
  };
  const writer = new CtraceWriter(output, { schema: SCHEMA, compression });
  for (let i = 0; i < 15; i++) {
    writer.event({ cycle: BigInt(i), formatId: 3, category: 0, source: 1 }, [
      BigInt(i),
      'the same text again',
    ]);
    if (i % 5 === 4) await writer.flush();
  }
  await writer.close();
  const bytes = new Uint8Array(Buffer.concat(pieces));
  bytes.set(header);
  return bytes;
}

const KINDS = canCompressZstd() ? (['none', 'zstd'] as const) : (['none'] as const);

describe.each(KINDS)('a file cut at every byte (%s)', (compression) => {
  it('delivers everything before the cut, and reports it', async () => {
    const bytes = await small(compression);
    const whole = await read(bytes);
    expect(whole).toMatchObject({ error: null, warnings: [] });
    expect(whole.events).toHaveLength(15);
    let most = 0;
    for (let length = 0; length < bytes.length; length++) {
      const { events, error } = await read(bytes.subarray(0, length));
      expect(error?.code).toBe('CONVERT_TRUNCATED');
      expect(error?.place.offset).toBeLessThanOrEqual(length);
      expect(events).toEqual(whole.events.slice(0, events.length));
      expect(events.length).toBeGreaterThanOrEqual(most);
      most = events.length;
    }
    expect(most).toBe(15);
  });

  it('does so as well when its writer was killed and the header knows nothing', async () => {
    const bytes = await small(compression);
    const whole = await read(bytes);
    const { header } = await CtraceFile.open(memorySource(bytes));
    bytes.fill(0, 8, 48);
    for (let length = 65; length <= bytes.length; length++) {
      const { events, error } = await read(bytes.subarray(0, length));
      expect(error?.code).toBe('CONVERT_TRUNCATED');
      expect(events).toEqual(whole.events.slice(0, events.length));
      if (length >= header.footerOffset) expect(events).toHaveLength(15);
    }
  });
});

describe('bytes that change', () => {
  it('give a coded error or other events, never anything else', async () => {
    const originals = await Promise.all([...KINDS.map(small), everything({ compression: 'none' })]);
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.nat(2), flips, fc.boolean(), async (which, changes, javaScriptOnly) => {
        const bytes = new Uint8Array(originals[which % originals.length]);
        // Schema and index are small; most of the longest file is one string.
        const range = Math.min(bytes.length, 3000);
        for (const [at, value] of changes) {
          bytes[at % 2 ? at % range : bytes.length - 1 - (at % range)] = value;
        }
        const { error } = await read(bytes, { javaScriptOnly });
        if (error) expect(error.code).toMatch(/^CONVERT_/);
      }),
      { numRuns: 500 },
    );
  });

  it('in the index: the blocks are found without it', async () => {
    const bytes = await small('none');
    const whole = await read(bytes);
    const { header } = await CtraceFile.open(memorySource(bytes));
    for (let at = header.footerOffset; at < bytes.length; at++) {
      for (const value of [0, 0xff]) {
        const changed = bytes.slice();
        changed[at] = value;
        const { events, error } = await read(changed);
        expect(error?.code ?? 'CONVERT_').toMatch(/^CONVERT_/);
        if (!error) expect(whole.events).toEqual(expect.arrayContaining(events));
      }
    }
    const lost = bytes.slice();
    lost.fill(0xff, header.footerOffset);
    expect(await read(lost)).toMatchObject({ events: whole.events, error: null });
    expect((await read(lost)).warnings.join()).toMatch(/index is damaged/);
  });
});

describe('promises of more than there is', () => {
  const changed = async (at: number, value: number, kind: 'zstd' | 'none' = 'none'): Promise<Uint8Array> => {
    const bytes = await small(kind);
    new DataView(bytes.buffer).setUint32(at, value, true);
    return bytes;
  };

  it('in the schema are not believed', async () => {
    const { header } = await CtraceFile.open(memorySource(await small('none')));
    for (let at = header.schemaOffset; at < header.firstBlock; at += 4) {
      for (const value of [0xffff_ffff, 0x8000_0000, 0x10_0000]) {
        const { error } = await read(await changed(at, value));
        if (error) expect(error.code).toBe('CONVERT_FORMAT');
        if (error) expect(error.place.offset).toBeGreaterThanOrEqual(header.schemaOffset);
      }
    }
  });

  it('in sizes of blocks are not believed', async () => {
    // Without an index the sizes in front of the blocks count.
    const bytes = await small('none');
    const { header } = await CtraceFile.open(memorySource(bytes));
    const view = new DataView(bytes.buffer);
    view.setBigUint64(40, 0n, true);
    view.setBigUint64(48, 4n, true);
    const unindexed = bytes.subarray(0, header.footerOffset);
    expect((await read(unindexed)).events).toHaveLength(15);
    const at = header.firstBlock;
    view.setUint32(at + 20, 0xffff_fff0, true);
    expect(await code(unindexed)).toBe('CONVERT_LIMIT');
    view.setUint32(at + 24, 0xffff_fff0, true);
    expect(await code(unindexed)).toBe('CONVERT_LIMIT');
    view.setUint32(at + 20, 3, true);
    expect(await code(unindexed)).toBe('CONVERT_FORMAT');
  });

  it('a bomb is not inflated beyond what its block says', async () => {
    const bomb = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x10, 0x03, 0, 0x40, 0x41]);
    const header = new Uint8Array(64 + 28);
    header.set((await written(EMPTY_SCHEMA, () => undefined)).subarray(0, 8));
    const view = new DataView(header.buffer);
    view.setUint32(64, 1, true);
    view.setUint32(84, 100_000, true);
    view.setUint32(88, bomb.length, true);
    const file = Buffer.concat([header, bomb]);
    for (const javaScriptOnly of [false, true]) {
      const { error } = await read(new Uint8Array(file), { javaScriptOnly });
      expect(error?.code).toBe('CONVERT_FORMAT');
    }
  });

  it('in a list of blocks do not make the same block be read again and again', async () => {
    const bytes = await small('none');
    const { header } = await CtraceFile.open(memorySource(bytes));
    const file = await CtraceFile.open(memorySource(bytes));
    const count = file.footer?.blockCount ?? 0;
    const view = new DataView(bytes.buffer);
    // The vector of blocks: its entries all point to the first one.
    const root = header.footerOffset + view.getUint32(header.footerOffset, true);
    let vector = root;
    while (view.getUint32(vector, true) !== count) vector++;
    const target = vector + 4 + view.getUint32(vector + 4, true);
    for (let i = 0; i < count; i++) view.setUint32(vector + 4 + 4 * i, target - (vector + 4 + 4 * i), true);
    const { events, warnings } = await read(bytes);
    expect(events).toHaveLength(15);
    expect(warnings.join()).toMatch(/index is damaged/);
  });

  it('in the number of events are reported', async () => {
    const bytes = await everything({ compression: 'none', index: false });
    const { header } = await CtraceFile.open(memorySource(bytes));
    new DataView(bytes.buffer).setUint32(header.firstBlock, 3, true);
    const { events, warnings } = await read(bytes);
    expect(events).toHaveLength((await contentOf(bytes)).events.length);
    expect(warnings).toEqual(['a block that says it holds 3 events holds 14']);
  });
});

describe('what the writer refuses', () => {
  const head = { cycle: 1n, formatId: 3, category: 0, source: 1 };
  const writing = (action: (writer: CtraceWriter) => void) => written(SCHEMA, action);

  it('are arguments that 16 bits do not count', async () => {
    await expect(writing((writer) => writer.event(head, [1n, 'x'.repeat(65_527)]))).rejects.toThrow(
      /CONVERT_LIMIT.*16 bits/,
    );
    const longest = await writing((writer) => writer.event(head, [1n, 'x'.repeat(65_526)]));
    expect((await read(longest)).events).toHaveLength(1);
  });

  it('are values that the types do not hold, and formats that are not there', async () => {
    for (const values of [[1n], [-1n, ''], [1n, 5], [1n << 64n, ''], [1.5, ''], [1n, 'a\0b']]) {
      await expect(writing((writer) => writer.event(head, values))).rejects.toThrow(/CONVERT_SOURCE/);
    }
    const unknown = { ...head, formatId: 99 };
    await expect(writing((writer) => writer.event(unknown, []))).rejects.toThrow(/CONVERT_SOURCE.*99/);
  });
});

describe('other versions', () => {
  it('are refused', async () => {
    const bytes = await small('none');
    const version = (major: number, minor: number): Uint8Array => {
      const changed = bytes.slice();
      changed.set([major, 0, minor, 0], 4);
      return changed;
    };
    expect(await code(version(1, 0))).toBe('CONVERT_UNSUPPORTED');
    expect(await code(version(2, 0))).toBe('CONVERT_UNSUPPORTED');
    expect(await code(version(1, 2))).toBeUndefined();
    expect(await code(Uint8Array.of(1, 2, 3, 4, 5))).toBe('CONVERT_FORMAT');
  });
});
