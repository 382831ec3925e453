/** Bytes that are not flux, or not all of it: a coded error at its place, in bounded time and memory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyEntry, put, written } from '../../../../test/support/flux-fixtures.js';
import { contextOf } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import { ConversionReport } from '../common/report.js';
import { inflateBlock } from './blocks.js';
import { FORMAT } from './format.js';
import {
  decodeEntry,
  decompressFastLz,
  FluxFile,
  type FluxReadOptions,
  FluxTag,
  listEntry,
} from './index.js';
import { Survey } from './survey.js';
import { BlockMode } from './types.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

async function read(bytes: Uint8Array, options: FluxReadOptions = {}, withLines = true) {
  const lines: string[] = [];
  let unpacked = 0;
  try {
    const stream = await new FluxFile(memorySource(bytes)).stream(options);
    while (await stream.more()) {
      while (stream.next()) {
        unpacked += stream.cursor.size;
        if (!withLines) continue;
        lines.push(listEntry(stream.cursor));
        decodeEntry(stream.cursor);
      }
    }
    return { lines, error: null, unpacked };
  } catch (error) {
    if (isUscopeError(error)) return { lines, error: error as UscopeError, unpacked };
    throw error;
  }
}

const code = async (bytes: Uint8Array): Promise<string | undefined> => (await read(bytes)).error?.code;
const bytesOf = (...parts: readonly (readonly number[] | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
const pint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
};
const head = (maxEntry = 4096): number[] => [
  ...[0, 1, 0x66, 0x6c, 0x75, 0x78, 6, 0, 1, 0x61, 0, 0, 10],
  ...pint(maxEntry),
];
const block = (mode: number, size: number, packed: Uint8Array): Uint8Array =>
  bytesOf([0, 5, mode], pint(size), pint(packed.length), packed);
const all = (compress: 'none' | 'lz4' | 'zlib' = 'none', ring = 0): Promise<Uint8Array> =>
  written(
    (file) => {
      const trace = file.trace({ traceId: 0, name: 'x' });
      const entries = everyEntry();
      const at = entries.findIndex(({ tag }) => tag === FluxTag.OPEN) + 1;
      put(trace, entries.slice(0, at));
      if (ring) file.ring({ bytes: ring, sections: 3 });
      put(trace, entries.slice(at));
    },
    { compress, blockBytes: 300 },
  );

describe('a file cut at every byte', () => {
  it('delivers every whole entry, then reports the cut where it is', async () => {
    const bytes = await all();
    const whole = await read(bytes);
    const ends: number[] = [];
    const stream = await new FluxFile(memorySource(bytes)).stream();
    while (await stream.more()) while (stream.next()) ends.push(stream.cursor.offset + stream.cursor.size);
    expect(ends.at(-1)).toBe(bytes.length);
    for (let length = 0; length < bytes.length; length++) {
      const { lines, error } = await read(bytes.subarray(0, length));
      const complete = ends.filter((end) => end <= length);
      expect(lines).toEqual(whole.lines.slice(0, complete.length));
      expect(error?.code).toBe(complete.at(-1) === length ? undefined : 'CONVERT_TRUNCATED');
      if (error) expect(error.place.offset).toBe(complete.at(-1) ?? 0);
    }
  });

  it('of blocks or of a ring buffer delivers what there is', async () => {
    for (const bytes of [await all('lz4'), await all('none', 2000)]) {
      const whole = await read(bytes);
      expect(whole.error).toBeNull();
      for (let length = 6; length < bytes.length; length += 11) {
        const { lines, error } = await read(bytes.subarray(0, length));
        expect(lines.length).toBeLessThan(whole.lines.length);
        if (error) expect(error.code).toBe('CONVERT_TRUNCATED');
      }
    }
  });

  it('becomes a trace of what is there, and is said to be partial', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'uscope-flux-cut-'));
    try {
      const bytes = await all();
      const warnings: string[] = [];
      const foreign = await FORMAT.open!(memorySource(bytes.subarray(0, bytes.length - 3)), new Map());
      const context = {
        options: new Map(),
        report: new ConversionReport(),
        onWarning: (message: string) => void warnings.push(message),
      };
      await foreign.toUscope({ path: join(directory, 'x.uscope') }, context);
      expect(foreign.isPartial).toBe(true);
      expect(warnings).toEqual([expect.stringContaining('CONVERT_TRUNCATED')]);
      const values = context.report.rows.find(({ what }) => what === 'values');
      expect(values?.count).toBe(BigInt(everyEntry().filter(({ tag }) => tag === FluxTag.SAMPLE).length));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe('bytes that change', () => {
  it('give a coded error or other entries, never anything else', async () => {
    const originals = [await all(), await all('lz4'), await all('zlib'), await all('none', 2000)];
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.nat(originals.length - 1), flips, fc.boolean(), async (which, changes, resync) => {
        const bytes = new Uint8Array(originals[which]);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const { error } = await read(bytes, resync ? { onSkip: () => undefined } : {});
        if (error) expect(error.code).toMatch(/^CONVERT_/);
        if (error?.code === 'CONVERT_FORMAT') expect(typeof error.place.offset).toBe('number');
      }),
      { numRuns: 500 },
    );
  });

  it('and make values swallow others are warned of, where that leaves a sign', async () => {
    const bytes = readFileSync(new URL('../../../../test/vectors/flux/ring_wrapped.flux', import.meta.url));
    const surveyed = async (flip?: readonly [at: number, bit: number]) => {
      const changed = new Uint8Array(bytes);
      if (flip) changed[flip[0]] ^= 1 << flip[1];
      const survey = new Survey();
      const stream = await new FluxFile(memorySource(changed)).stream();
      while (await stream.more()) while (stream.next()) survey.take(stream.cursor);
      return { values: [...survey.signals.values()].reduce((sum, { count }) => sum + count, 0), survey };
    };
    const whole = await surveyed();
    expect([whole.values, whole.survey.doubts.messages()]).toEqual([201, []]);
    const damaged = await surveyed([71, 1]);
    expect([damaged.values, damaged.survey.doubts.messages()]).toEqual([
      199,
      [
        expect.stringMatching(/^at offset 312: CONVERT_FORMAT: a section .* not begin at the time/),
        expect.stringMatching(/^at offset 69: CONVERT_FORMAT: values of f are none of their signal's type/),
      ],
    ]);
  });

  it('and a conversion of them warns', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'uscope-flux-doubts-'));
    const bytes = new Uint8Array(
      readFileSync(new URL('../../../../test/vectors/flux/ring_wrapped.flux', import.meta.url)),
    );
    bytes[71] ^= 2;
    const context = contextOf();
    const foreign = await FORMAT.open!(memorySource(bytes), context.options);
    await foreign.toUscope({ path: join(directory, 'damaged.uscope') }, context);
    expect(context.warnings).toEqual([
      expect.stringContaining('does not begin at the time at which the one before ends'),
      expect.stringContaining("values of f are none of their signal's type"),
    ]);
    rmSync(directory, { recursive: true });
  });

  it('of a block that holds less or more than it says are reported with the place of the block', async () => {
    for (const size of [2, 4]) {
      await expect(
        inflateBlock(BlockMode.ZLIB, deflateSync(Uint8Array.of(1, 2, 3)), size, 77),
      ).rejects.toThrow(expect.objectContaining({ code: 'CONVERT_FORMAT', place: { offset: 77 } }));
    }
  });

  it('are passed over up to the next head, after which all is as it was', async () => {
    const bytes = await all();
    const skips: [number, number, string][] = [];
    const onSkip: FluxReadOptions['onSkip'] = (from, to, { code: why }) => skips.push([from, to, why]);
    const junk = Uint8Array.of(0, 0x77, 1, 0, 1, 0x66);
    const { lines, error } = await read(bytesOf(junk, bytes, junk, bytes), { onSkip });
    const clean = (await read(bytes)).lines;
    expect(error).toBeNull();
    expect(lines).toEqual([...clean, ...clean]);
    expect(skips).toEqual([
      [0, 6, 'CONVERT_FORMAT'],
      [6 + bytes.length, 12 + bytes.length, 'CONVERT_FORMAT'],
    ]);
    expect(await code(bytesOf(junk, bytes))).toBe('CONVERT_FORMAT');
  });
});

describe('promises of more than there is', () => {
  it('are not believed', async () => {
    expect(await code(bytesOf(head(), [0, 0x22], pint(2 ** 31)))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(head(), [0, 0x22], pint(1000)))).toBe('CONVERT_TRUNCATED');
    expect(await code(bytesOf(head(), [0, 0x20, 0, 0, 0, 0, 8], pint(2 ** 40)))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(head(), [0, 5, 0], pint(2 ** 30), pint(3), [0, 0, 0]))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(head(), [0, 5, 0, 4], pint(2 ** 31)))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(head(), [0, 0x80, 0, 0], pint(2 ** 33)))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(head(), new Array(40).fill(0xff)))).toBe('CONVERT_FORMAT');
    expect(await code(bytesOf(head(), [0, 6, 0x81, 4, 0, 9, 0, 1, 2, 3, 4]))).toBe('CONVERT_FORMAT');
    expect(await code(bytesOf(head(), [0, 0x23, 0, 17], new Array(17).fill(1)))).toBe('CONVERT_LIMIT');
    expect(await code(bytesOf(head(), [8, 0]))).toBe('CONVERT_FORMAT');
    expect(await code(bytesOf(head(), [0, 4, 5]))).toBe('CONVERT_FORMAT');
    expect(await code(bytesOf(head().with(6, 7)))).toBe('CONVERT_UNSUPPORTED');
    expect(await code(bytesOf([0, 0x10, 1, 0, 0, 0]))).toBe('CONVERT_FORMAT');
    expect(await code(new Uint8Array(0))).toBe('CONVERT_TRUNCATED');
  });

  it('of blocks in blocks neither: a small file does not become a large one', async () => {
    const zeros = deflateSync(new Uint8Array(16 * 1024 * 1024));
    expect(await code(bytesOf(head(2 ** 25), block(2, 16 * 1024 * 1024 - 1, zeros)))).toBe('CONVERT_FORMAT');
    const switches = new Uint8Array(12_000).fill(0).map((_, i) => (i % 3 === 1 ? 4 : 0));
    let inner = block(2, switches.length, deflateSync(switches));
    for (let depth = 0; depth < 3; depth++) {
      const many = bytesOf(...Array.from({ length: Math.floor(12_000 / inner.length) }, () => inner));
      inner = block(3, many.length, gzipSync(many));
    }
    const { error, unpacked } = await read(bytesOf(head(), inner), {}, false);
    expect(error?.code).toBe('CONVERT_LIMIT');
    expect(unpacked).toBeLessThan(4096 * (inner.length + 256) * 2);
    const deep = [1, 2, 3, 4, 5, 6].reduce(
      (bytes) => block(2, bytes.length, deflateSync(bytes)),
      bytesOf([0, 4, 0]),
    );
    expect(await code(bytesOf(head(), deep))).toBe('CONVERT_LIMIT');
  });
});

describe('FastLZ', () => {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

  it('of level 1: literals, short and long matches, also of what they write', () => {
    // "abc", then 6 bytes 3 back, 10 bytes 1 back, "!".
    const packed = Uint8Array.of(2, 0x61, 0x62, 0x63, (4 << 5) | 0, 2, (7 << 5) | 0, 1, 0, 0, 0x21);
    expect(text(decompressFastLz(packed, 20))).toBe(`abcabcabc${'c'.repeat(10)}!`);
  });

  it('of level 2: lengths over several bytes, distances beyond 8191', () => {
    const first = Uint8Array.from({ length: 32 }, (_, i) => 0x41 + i);
    const long = [(7 << 5) | 0, 255, 255, 10, 0];
    const far = [(1 << 5) | 31, 255, 0, 100];
    // 32 literals; 9 + 255 + 255 + 10 bytes one back, made longer than 8191 by 16 such matches; then 3 bytes 8292 back.
    const matches = Array.from({ length: 16 }, () => long).flat();
    const packed = Uint8Array.from([(1 << 5) | 31, ...first, ...matches, ...far, 0, 0x7a]);
    const size = 32 + 16 * 529 + 3 + 1;
    const out = decompressFastLz(packed, size);
    const filled = 32 + 16 * 529;
    expect(text(out.subarray(0, 32))).toBe(text(first));
    expect(out.subarray(32, filled).every((byte) => byte === first[31])).toBe(true);
    expect([...out.subarray(filled, filled + 3)]).toEqual([...out.subarray(filled - 8292, filled - 8289)]);
    expect(out[size - 1]).toBe(0x7a);
  });

  it('refuses what leads out of its bytes', () => {
    for (const packed of [
      [],
      [5, 1],
      [0, 1, 0x20],
      [0, 1, 0x20, 9],
      [0, 1, 0xe0, 255, 0],
      [0x40, 1],
      [0, 1],
    ]) {
      expect(() => decompressFastLz(Uint8Array.from(packed), 8)).toThrow(/CONVERT_FORMAT/);
    }
  });
});
