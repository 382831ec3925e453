/** Every sample of real STF files against the listing that an independent decoder made of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { isUscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import { memorySource } from '../../reader/index.js';
import { listRecord, MemoryOutput, StfFile, type StfRecord, StfWriter } from './index.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/stf/', import.meta.url));
const isPresent = existsSync(SAMPLES);
const names = isPresent
  ? [...readdirSync(SAMPLES), ...readdirSync(`${SAMPLES}edge`).map((name) => `edge/${name}`)].filter(
      (name) => !name.endsWith('.txt') && name !== 'edge',
    )
  : [];

/** Files that break the rules, the code they are refused with, and the offset. */
const REFUSED: Readonly<Record<string, readonly [code: string, offset: number]>> = {
  'edge/baddesc.stf': ['CONVERT_FORMAT', 0x35],
  'edge/noiem.stf': ['CONVERT_FORMAT', 0x2c],
  'edge/trunc.stf': ['CONVERT_TRUNCATED', 0x35],
  'edge/v20.stf': ['CONVERT_UNSUPPORTED', 4],
};

/** Written again once only, in chunks. */
const LARGE = 'olympia__dhrystone_opt2.zstf';

const open = (name: string) => StfFile.open(memorySource(readFileSync(SAMPLES + name), name));

async function list(name: string): Promise<{ lines: string[]; error: unknown }> {
  const lines: string[] = [];
  try {
    const file = await open(name);
    const stream = await file.stream();
    while (await stream.more()) while (stream.next()) lines.push(listRecord(stream.cursor));
    return { lines, error: null };
  } catch (error) {
    return { lines, error };
  }
}

function expected(name: string): string[] {
  const text = readFileSync(`${SAMPLES}${name}.dump.txt`, 'utf8');
  return text.split('\n').filter((line) => /^[0-9a-f]{8} \+/.test(line));
}

const trimmed = (lines: readonly string[]): string[] => lines.map((line) => line.trimEnd());

async function payloadOf(name: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await open(name)).payload()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe.skipIf(lacks('samples of other tools', isPresent))('every sample', () => {
  it.each(names.filter((name) => existsSync(`${SAMPLES}${name}.dump.txt`)))(
    '%s reads as listed',
    async (name) => {
      const { lines, error } = await list(name);
      const refused = REFUSED[name];
      if (!refused) {
        expect(error).toBeNull();
        // Of files in chunks the listing counts the offsets of each chunk from 0.
        const from = name === 'loop_chunk4.zstf' ? 9 : 0;
        const shown = (all: readonly string[]): string[] => trimmed(all).map((line) => line.slice(from));
        expect(shown(lines)).toEqual(shown(expected(name)));
        return;
      }
      expect(isUscopeError(error) && [error.code, error.place.offset]).toEqual(refused);
      // Everything before the fault is delivered; the listing was made by a decoder without rules for headers.
      expect(trimmed(lines)).toEqual(trimmed(expected(name)).slice(0, lines.length));
      const header = lines.length < 8 ? 1 : 0;
      expect(lines.length + header).toBeGreaterThanOrEqual(Math.min(2, expected(name).length));
    },
  );

  it.each(names.filter((name) => !(name in REFUSED) && (name !== LARGE || !canCompressZstd())))(
    '%s written again has the same bytes',
    async (name) => {
      const output = new MemoryOutput();
      const writer = new StfWriter(output);
      const file = await open(name);
      for await (const record of file.records()) writer.record(record);
      await writer.close();
      expect(Buffer.from(output.bytes).equals(await payloadOf(name))).toBe(true);
    },
  );

  it('dhrystone has the counts of its summary', async () => {
    const counts: Record<number, number> = {};
    const stream = await (await open('olympia__dhrystone_opt2.zstf')).stream();
    while (await stream.more()) {
      while (stream.next()) counts[stream.cursor.type] = (counts[stream.cursor.type] ?? 0) + 1;
    }
    expect(stream.cursor.markers).toBe(231_022);
    expect(counts).toMatchObject({ 31: 25_001, 240: 107_016, 241: 124_006, 9: 3 });
  });
});

describe.skipIf(lacks('samples of other tools, zstd-napi', isPresent && canCompressZstd()))('chunks', () => {
  it.each([
    ['loop_chunk4.zstf', 4],
    ['olympia__dhrystone_opt2.zstf', 100_000],
    ['header_only.zstf', 100_000],
  ])('of %s have the same index when they are written again', async (name, markersPerChunk) => {
    const file = await open(name);
    const output = new MemoryOutput();
    const writer = new StfWriter(output, { container: 'zstf', markersPerChunk });
    for await (const record of file.records()) {
      writer.record(record);
      if (writer.isFull) await writer.flush();
    }
    await writer.close();
    const again = await StfFile.open(memorySource(output.bytes));
    const pieces: Uint8Array[] = [];
    for await (const piece of again.payload()) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(await payloadOf(name))).toBe(true);
    const shape = ({ index }: StfFile) => index!.chunks.map(({ startPc, size }) => ({ startPc, size }));
    expect(shape(again)).toEqual(shape(file));
  });

  it('are found by the number of an instruction', async () => {
    const file = await open('loop_chunk4.zstf');
    const all: { records: StfRecord[]; pcs: bigint[] } = { records: [], pcs: [] };
    const starts = [0];
    for await (const record of file.records()) {
      all.records.push(record);
      if (record.type >= 240) starts.push(all.records.length);
    }
    for (const at of [0, 1, 3, 4, 5, 8, 30, 88, 89]) {
      const rest: StfRecord[] = [];
      for await (const record of file.records({ fromInstruction: at })) rest.push(record);
      expect(rest).toEqual(all.records.slice(starts[at]));
    }
    const stream = await file.stream({ fromInstruction: 30 });
    expect(stream.cursor.markers).toBe(30);
    await stream.more();
    while (stream.next() && !stream.cursor.isMarker);
    expect(listRecord(stream.cursor)).toContain('pc=0x80000000');
  });

  it('decompress alike without the native decoder', async () => {
    for (const name of [
      'olympia__dhrystone_opt2.zstf',
      'edge/raw_blocks_trailing_comment.zstf',
      'loop_chunk4.zstf',
    ]) {
      const pieces: Uint8Array[] = [];
      for await (const piece of (await open(name)).payload({ javaScriptOnly: true })) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(await payloadOf(name))).toBe(true);
    }
  });
});
