/** Files of other writers, where they are at hand: every structure decodes, totals are the known ones, and our encoders agree byte for byte. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { decodeFrames } from '../../../test/support/decode-frames.js';
import { decodeSegmentTable, encodeStringTable, StringTable } from '../../../test/support/format-tables.js';
import { lacks } from '../../../test/support/needs.js';
import {
  buildDensityLevels,
  buildMipmap,
  CursorItem,
  compressionOf,
  decodeCheckpoint,
  decodeHeader,
  decodePreamble,
  decodeSectionTable,
  decodeSegmentHeader,
  decodeTraceSummary,
  decompressLz4Blob,
  encodeFrames,
  encodePreamble,
  encodeTraceSummary,
  type FileHeader,
  Flag,
  FrameCursor,
  SEGMENT_HEADER_SIZE,
  SectionType,
} from './index.js';

const folder = fileURLToPath(new URL('../../../../shared/samples/uscope/', import.meta.url));
const load = (name: string) => new Uint8Array(readFileSync(`${folder}${name}.uscope`));

function open(bytes: Uint8Array) {
  const header = decodeHeader(bytes);
  const preamble = decodePreamble(bytes.subarray(48, header.preambleEnd), header.versionMinor);
  const tableAt = Number(header.sectionTableOffset);
  const sections = decodeSectionTable(bytes.subarray(tableAt), tableAt, bytes.length);
  const section = (type: number) => {
    const entry = sections.find((candidate) => candidate.type === type);
    return entry && bytes.subarray(Number(entry.offset), Number(entry.offset + entry.size));
  };
  return { header, preamble, section };
}

function deltasOf(bytes: Uint8Array, offset: number, file: FileHeader) {
  const header = decodeSegmentHeader(bytes.subarray(offset), offset);
  const checkpointAt = offset + SEGMENT_HEADER_SIZE;
  const blobAt = checkpointAt + header.checkpointSize;
  const blob = bytes.subarray(blobAt, blobAt + header.deltasCompressedSize);
  const isLz4 = compressionOf(file.flags) === 'lz4';
  const deltas = isLz4 ? decompressLz4Blob(blob, header.deltasRawSize, blobAt) : blob;
  return { header, checkpoint: bytes.subarray(checkpointAt, blobAt), deltas };
}

function totals(bytes: Uint8Array) {
  const { header: file, preamble, section } = open(bytes);
  const sum = { segments: 0, frames: 0, ops: 0, events: 0 };
  for (const entry of decodeSegmentTable(section(SectionType.SEGMENTS)!)) {
    const { header, checkpoint, deltas } = deltasOf(bytes, Number(entry.offset), file);
    const blocks = decodeCheckpoint(checkpoint, preamble.schema);
    expect(blocks.map((block) => block.storageId)).toEqual(
      preamble.schema.storages.map((def) => def.storageId),
    );
    const cursor = new FrameCursor(deltas, header.timeStartPs, (file.flags & Flag.INTERLEAVED) !== 0);
    while (cursor.next()) {
      if (cursor.kind === CursorItem.OP) sum.ops++;
      else if (cursor.kind === CursorItem.EVENT) sum.events++;
    }
    expect(cursor.frames).toBe(header.numFrames);
    expect(cursor.timePs).toBe(header.timeEndPs);
    sum.segments++;
    sum.frames += cursor.frames;
  }
  expect(sum.segments).toBe(file.numSegments);
  return sum;
}

describe.skipIf(lacks('traces of other writers', existsSync(folder)))(
  'sample traces of other writers',
  () => {
    test.each([
      ['gen', { segments: 27, frames: 262_997, ops: 174_230, events: 165_958 }],
      ['c_test_write', { segments: 1, frames: 5, ops: 10, events: 9 }],
      ['k2u_small', { segments: 1, frames: 5, ops: 12, events: 11 }],
      ['reflex_v0.1', { segments: 5, frames: 4047, ops: 23_713, events: 96_936 }],
    ])('%s', (name, expected) => {
      expect(totals(load(name))).toEqual(expected);
    });

    test.each(['gen', 'c_test_write', 'k2u_small'])('%s: our preamble is the same, byte for byte', (name) => {
      const bytes = load(name);
      const { header, preamble } = open(bytes);
      expect(encodePreamble(preamble).bytes).toEqual(bytes.slice(48, header.preambleEnd));
    });

    test.each(['c_test_write', 'k2u_small'])('%s: our frames are the same, byte for byte', (name) => {
      const bytes = load(name);
      const { header, preamble } = open(bytes);
      const { header: segment, deltas } = deltasOf(bytes, Number(header.tailOffset), header);
      const frames = decodeFrames(deltas, segment.timeStartPs, preamble.schema);
      expect(encodeFrames(frames, segment.timeStartPs)).toEqual(deltas);
    });

    test.each(['gen', 'c_test_write'])(
      '%s: our summary of its finest level is the same, byte for byte',
      (name) => {
        const bytes = open(load(name)).section(SectionType.COUNTER_SUMMARY)!;
        const summary = decodeTraceSummary(bytes);
        const rebuilt = {
          ...summary,
          density: buildDensityLevels(summary.density[0], summary.fanOut),
          counters: summary.counters.map((counter) => ({
            ...counter,
            levels: buildMipmap(counter.levels[0], summary.fanOut),
          })),
        };
        expect(Buffer.from(encodeTraceSummary(rebuilt)).equals(bytes)).toBe(true);
      },
    );

    test('string tables: 9283 strings of reflex_v0.1, and the same bytes for c_test_write', () => {
      const many = new StringTable(open(load('reflex_v0.1')).section(SectionType.STRINGS)!);
      expect(many.length).toBe(9283);
      for (let index = 0; index < many.length; index++) many.get(index);
      const bytes = open(load('c_test_write')).section(SectionType.STRINGS)!;
      expect(new StringTable(bytes).get(0)).toBe('addi x0, x0, 0');
      expect(encodeStringTable(['addi x0, x0, 0'])).toEqual(bytes.slice());
    });

    test.each([
      ['c_comp', 'FORMAT_COMPRESSION'],
      ['c_lz4', 'FORMAT_COMPRESSION'],
      ['c_magic', 'FORMAT_MAGIC'],
      ['c_nocfg', 'FORMAT_CHUNK_MISSING'],
      ['c_resv', 'FORMAT_VALUE'],
      ['c_sp', 'FORMAT_STRING_POOL'],
      ['c_ver', 'FORMAT_VERSION'],
      ['truncated', 'FORMAT_TRUNCATED'],
    ])('bad/%s ends in %s', (name, code) => {
      expect(() => totals(load(`bad/${name}`))).toThrow(expect.objectContaining({ code }));
    });
  },
);
