/** Every sample of real flux files, and those that are in test/vectors, against the listing that an independent decoder made of it, and written again. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { written } from '../../../../test/support/flux-fixtures.js';
import { lacks } from '../../../../test/support/needs.js';
import { memorySource } from '../../reader/index.js';
import {
  type FluxEntry,
  FluxFile,
  FluxTag,
  type FluxTraceWriter,
  type FluxWriterOptions,
  listEntry,
} from './index.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/flux/', import.meta.url));
const VECTORS = fileURLToPath(new URL('../../../../test/vectors/flux/', import.meta.url));
const filesIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.flux'))
    .map((name) => directory + name);
const isPresent = existsSync(SAMPLES);
const paths = isPresent ? filesIn(SAMPLES) : filesIn(VECTORS);
const named = paths.map((path) => [basename(path), path] as const);
const pathOf = (name: string): string => paths.find((path) => basename(path) === `${name}.flux`)!;
const listingOf = (path: string): string => path.replace('.flux', '.dump.txt');
const PACKED: readonly number[] = [FluxTag.PBLK, FluxTag.SECT, FluxTag.RING];
const isPacking = (tag: number): boolean => PACKED.includes(tag);

async function list(bytes: Uint8Array): Promise<string[]> {
  const lines: string[] = [];
  const stream = await new FluxFile(memorySource(bytes)).stream();
  while (await stream.more()) {
    while (stream.next()) {
      const { cursor } = stream;
      lines.push('  '.repeat(cursor.depth) + listEntry(cursor, stream.sectionOrder));
    }
  }
  return lines;
}

async function entriesOf(bytes: Uint8Array): Promise<FluxEntry[]> {
  const entries: FluxEntry[] = [];
  for await (const entry of new FluxFile(memorySource(bytes)).entries()) entries.push(entry);
  return entries;
}

/** Version 6, as it would be written now. */
const current = (entry: FluxEntry): FluxEntry =>
  entry.tag === FluxTag.HEAD ? { ...entry, version: 6 } : entry;

const contentOf = async (bytes: Uint8Array): Promise<FluxEntry[]> =>
  (await entriesOf(bytes)).filter(({ tag }) => !isPacking(tag)).map(current);

function again(
  entries: readonly FluxEntry[],
  options: FluxWriterOptions = {},
  ring = 0,
): Promise<Uint8Array> {
  return written((file) => {
    const traces = new Map<number, FluxTraceWriter>();
    let trace: FluxTraceWriter | undefined;
    for (const entry of entries) {
      if (entry.tag === FluxTag.HEAD && !traces.has(entry.traceId)) {
        trace = file.trace(entry);
        traces.set(entry.traceId, trace);
      } else if (entry.tag === FluxTag.HEAD || entry.tag === FluxTag.SWTH) {
        trace = traces.get(entry.traceId);
        if (entry.tag === FluxTag.HEAD) trace!.entry(entry);
      } else trace!.entry(entry);
      if (ring && entry.tag === FluxTag.OPEN) file.ring({ bytes: ring, sections: 8 });
    }
  }, options);
}

/** Positions are those of the samples: where they leap, we say so, and the emitters write numbers that viewers misread. */
const contentLines = (lines: readonly string[]): string[] =>
  lines
    .map((line) => line.trim().replace(/ver=4/, 'ver=6'))
    .filter((line) => !/^(CURR|PBLK|SECT)/.test(line));

describe('every sample', () => {
  it.each(named.filter(([, path]) => existsSync(listingOf(path))))(
    '%s reads as listed, without leftovers',
    async (name, path) => {
      const text = readFileSync(listingOf(path), 'utf8');
      const expected = text
        .split('\n')
        .filter((line) => line && !line.startsWith('#'))
        // The listing shows the missing base of version 4 as -1, and no places of labels.
        .map((line) => line.replace(/base=-1$/, 'base=0').trimEnd());
      const lines = (await list(readFileSync(path))).map((line) => line.replace(/ x=\d+ y=\d+$/, ''));
      // Of the largest file the listing has the beginning alone, but counts all of it.
      const isWhole = !name.startsWith('vendor_c_example10');
      expect(lines.slice(0, 400)).toEqual(expected.slice(0, 400));
      expect(expected.findIndex((line, i) => line !== lines[i])).toBe(-1);
      const count = Number(/# entries=(\d+)/.exec(text)![1]);
      expect(lines.length).toBe(isWhole ? expected.length : count);
    },
  );

  // The largest one is written again on its way through a µScope trace.
  const small = named.filter(([, path]) => statSync(path).size < 100_000);
  it.each(small)('%s written again, plain and packed, has the same entries', async (_, path) => {
    const bytes = readFileSync(path);
    const entries = await contentOf(bytes);
    const expected = contentLines(await list(bytes));
    for (const compress of ['none', 'lz4', 'zlib', 'gzip'] as const) {
      const lines = contentLines(await list(await again(entries, { compress, blockBytes: 4096 })));
      expect(lines.findIndex((line, i) => line !== expected[i])).toBe(-1);
      expect(lines.length).toBe(expected.length);
    }
  });

  it.skipIf(lacks('samples of other tools', isPresent))('what the calls said is what is read', async () => {
    const calls = readFileSync(`${SAMPLES}alltypes.calls.txt`, 'utf8').split('\n');
    const lines = (await list(readFileSync(`${SAMPLES}alltypes.flux`))).filter((line) =>
      line.startsWith('@'),
    );
    const integers = calls.flatMap((line) => /^(@\d+ id=\d+ (?:conflict )?int -?\d+)/.exec(line)?.[1] ?? []);
    expect(integers.length).toBe(25);
    for (const call of integers) expect(lines).toContain(call);
  });

  it('what was written in blocks is what is read', async () => {
    for (const name of ['lz4', 'flz', 'flz_in_lz4'].filter((one) => pathOf(one))) {
      const shown = (await list(readFileSync(pathOf(name)))).map((line) => line.trim());
      const made = Array.from({ length: 1000 }, (_, n) => [
        `@${n * 10} id=1 int ${n % 444}`,
        `@${n * 10} id=2 float64 ${Number.isInteger(n / 7) ? `${n / 7}.0` : n / 7}`,
      ]).flat();
      expect(shown.filter((line) => line.startsWith('@'))).toEqual(made);
    }
  });
});

describe('the bytes are those of the existing emitters', () => {
  it('of several traces', async () => {
    const bytes = readFileSync(pathOf('multitrace'));
    expect(Buffer.from(await again(await contentOf(bytes))).equals(bytes)).toBe(true);
  });

  it('of blocks, which have the same entries', async () => {
    const packed = [
      ['java_zlib', 'zlib'],
      ['lz4', 'lz4'],
    ] as const;
    for (const [name, compress] of packed.filter(([one]) => pathOf(one))) {
      const bytes = readFileSync(pathOf(name));
      const made = await again(await contentOf(bytes), { compress, blockBytes: 4096 });
      const sizes = async (all: Uint8Array) =>
        (await entriesOf(all)).flatMap((entry) => (entry.tag === FluxTag.PBLK ? [entry.size] : []));
      const [ours, theirs] = [await sizes(made), await sizes(bytes)];
      expect(ours.length).toBe(theirs.length);
      // The emitter in C leaves room that it does not use; the one in Java fills blocks as we do.
      if (name === 'java_zlib') expect(ours).toEqual(theirs);
      expect(ours.reduce((sum, size) => sum + size, 0)).toBe(theirs.reduce((sum, size) => sum + size, 0));
    }
  });

  it('of ring buffers, begun and gone round', async () => {
    for (const [name, count] of [
      ['ring_half', 40],
      ['ring_wrapped', 3000],
    ] as const) {
      const bytes = readFileSync(pathOf(name));
      const head = (await contentOf(bytes)).slice(0, 4);
      const samples: FluxEntry[] = [];
      for (let n = 0; n < count; n++) {
        const position = BigInt(n * 10);
        const float = new Uint8Array(Float64Array.of(n / 7).buffer);
        const low = n % 444;
        const integer = low === 0 ? [] : low < 128 ? [low] : [low & 0xff, low >> 8];
        const common = { tag: FluxTag.SAMPLE, conflict: false, position } as const;
        samples.push({ ...common, id: 1, df: 1, xdf: 0, data: Uint8Array.from(integer) });
        samples.push({ ...common, id: 2, df: 1, xdf: 2, data: float });
      }
      const made = await again([...head, ...samples], {}, name === 'ring_half' ? 1995 : 1992);
      expect(made.length).toBe(bytes.length);
      const sections = (all: readonly FluxEntry[]) =>
        all.flatMap((entry) => (entry.tag === FluxTag.SECT ? [[entry.counter & 0x80, entry.size]] : []));
      expect(sections(await entriesOf(made))).toEqual(sections(await entriesOf(bytes)));
      const kept = (await contentOf(made)).filter(({ tag }) => tag === FluxTag.SAMPLE);
      const theirs = (await contentOf(bytes)).filter(({ tag }) => tag === FluxTag.SAMPLE);
      expect(kept).toEqual(samples.slice(-kept.length));
      expect(theirs).toEqual(samples.slice(-theirs.length));
      expect(kept.length).toBeGreaterThanOrEqual(theirs.length * 0.98);
    }
  });
});
