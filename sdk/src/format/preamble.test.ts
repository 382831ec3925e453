import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CHECKSUM_PAYLOAD_SIZE } from './checksum-chunk.js';
import { encodeDut } from './dut.js';
import type { FileHeader } from './header.js';
import {
  CHECKSUMS_AT,
  ChunkType,
  decodeChunks,
  decodePreamble,
  encodeChunk,
  encodePreamble,
  layOutPreamble,
  mandatoryChunks,
  type PreambleParts,
} from './preamble.js';
import { checkPreamble } from './preamble-check.js';
import { decodeSessionInfo, NO_CORE, SessionStatus } from './session-chunk.js';
import { StringPoolBuilder } from './string-pool.js';
import { NO_ID } from './types.js';

const VECTOR = new URL('../../../test/vectors/format/preamble-checksums.bin', import.meta.url);

const PARTS: PreambleParts = {
  schema: {
    clocks: [{ name: 'clk', clockId: 0, periodPs: 1000 }],
    scopes: [{ name: '/', scopeId: 0, parentId: NO_ID, protocol: null, clockId: 0 }],
    enums: [],
    storages: [],
    events: [],
    summaryFields: [],
  },
  dut: [['dut_name', 'core0']],
  checkpointIntervalPs: 10_000n,
  session: {
    sessionId: new Uint8Array(16).fill(1),
    runId: new Uint8Array(16),
    coreIndex: NO_CORE,
    status: SessionStatus.OPEN,
    startTimeMs: 5n,
    endTimeMs: 0n,
    lost: 0n,
    rejected: 0n,
  },
};

const concat = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
const END = encodeChunk(ChunkType.END, new Uint8Array(0));

describe('preamble', () => {
  test('says where it ends and where the session payload is in the file', () => {
    const { bytes, preambleEnd, sessionPayloadOffset } = encodePreamble(PARTS);
    expect(preambleEnd).toBe(48 + bytes.length);
    expect(preambleEnd % 8).toBe(0);
    const payload = bytes.subarray(sessionPayloadOffset - 48);
    expect(decodeSessionInfo(payload)).toEqual(PARTS.session);
    expect(decodePreamble(bytes, 3).sessionChunkOffset).toBe(sessionPayloadOffset);
  });

  test('without a session there is no session chunk', () => {
    const { bytes, sessionPayloadOffset } = encodePreamble({ ...PARTS, session: null });
    expect(sessionPayloadOffset).toBe(0);
    expect(decodePreamble(bytes, 3)).toMatchObject({ session: null, sessionChunkOffset: null });
  });

  test('a session chunk of a later layout counts as unknown', () => {
    const later = new Uint8Array(128);
    later[0] = 2;
    const { bytes } = encodePreamble({
      ...PARTS,
      session: null,
      unknownChunks: [{ type: ChunkType.SESSION, payload: later }],
    });
    const preamble = decodePreamble(bytes, 3);
    expect(preamble.session).toBeNull();
    expect(preamble.unknownChunks).toMatchObject([{ type: 0xff01, payload: later }]);
  });

  test('a mandatory chunk that is duplicated is refused at its second place', () => {
    const { bytes, preambleEnd } = encodePreamble(PARTS);
    const again = encodeChunk(ChunkType.DUT_DESC, encodeDut([], new StringPoolBuilder()));
    const doubled = concat(bytes.subarray(0, -END.length), again, END);
    expect(() => decodePreamble(doubled, 3)).toThrow(
      expect.objectContaining({ code: 'FORMAT_CHUNK_MISSING', place: { offset: preambleEnd - 8 + 8 } }),
    );
  });

  test.each([ChunkType.DUT_DESC, ChunkType.SCHEMA, ChunkType.TRACE_CONFIG])(
    'chunk %s is mandatory',
    (missing) => {
      const kept = decodeChunks(encodePreamble(PARTS).bytes).filter((chunk) => chunk.type !== missing);
      const bytes = concat(...kept.map((chunk) => encodeChunk(chunk.type, chunk.payload)), END);
      expect(() => decodePreamble(bytes, 3)).toThrow(
        expect.objectContaining({ code: 'FORMAT_CHUNK_MISSING' }),
      );
    },
  );

  test('errors inside a chunk carry the file offset', () => {
    const { bytes } = encodePreamble(PARTS);
    const schema = decodeChunks(bytes).find((chunk) => chunk.type === ChunkType.SCHEMA)!;
    bytes[schema.offset - 48 + 11] = 0xff; // string_pool_offset
    expect(() => decodePreamble(bytes, 3)).toThrow(
      expect.objectContaining({ code: 'FORMAT_STRING_POOL', place: { offset: schema.offset + 10 } }),
    );
  });

  test('what follows END is ignored, a missing END is not', () => {
    const { bytes } = encodePreamble(PARTS);
    expect(decodeChunks(concat(bytes, new Uint8Array(5).fill(9))).length).toBe(4);
    expect(() => decodeChunks(bytes.subarray(0, -8))).toThrow(
      expect.objectContaining({ code: 'FORMAT_TRUNCATED' }),
    );
  });
});

describe('the preamble of a trace of ours', () => {
  const FLAGS = 0x82;
  const header = (preambleEnd: number, more: Partial<FileHeader> = {}): FileHeader => ({
    versionMajor: 0,
    versionMinor: 3,
    flags: FLAGS,
    totalTimePs: 0n,
    numSegments: 0,
    preambleEnd,
    sectionTableOffset: 0n,
    tailOffset: 0n,
    ...more,
  });
  const layOut = () => {
    const { bytes, header } = layOutPreamble(FLAGS, PARTS.session!, mandatoryChunks(PARTS));
    return { bytes, preambleEnd: header.preambleEnd };
  };
  const damagedParts = (...args: Parameters<typeof checkPreamble>) =>
    checkPreamble(...args).damaged.map(({ what }) => what);

  test('has session and checksums within the first sector, so that a disk changes them at once', () => {
    const { bytes, preambleEnd } = layOut();
    expect(preambleEnd).toBe(48 + bytes.length);
    const preamble = decodePreamble(bytes, 3);
    expect([preamble.sessionChunkOffset, preamble.checksumOffset]).toEqual([56, 192]);
    expect(CHECKSUMS_AT + CHECKSUM_PAYLOAD_SIZE).toBeLessThanOrEqual(512);
  });

  test('is that of the golden vector, whose checksums another implementation has computed', () => {
    const bytes = new Uint8Array(readFileSync(VECTOR));
    expect(damagedParts(header(48 + bytes.length), bytes)).toEqual([]);
  });

  test('what a writer changes later changes none of its checksums', () => {
    const { bytes, preambleEnd } = layOut();
    const later = header(preambleEnd, { numSegments: 7, tailOffset: 999n });
    expect(damagedParts(later, bytes)).toEqual([]);
  });

  test('every flipped bit is found, or is one of the checksums’ own unused ones', () => {
    const { bytes, preambleEnd } = layOut();
    const missed: number[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      try {
        decodePreamble(flipped, 3);
        if (damagedParts(header(preambleEnd), flipped).length === 0) missed.push(48 + (bit >> 3));
      } catch {
        // not a preamble any more
      }
    }
    // Type and layout of the chunk itself (then there are no checksums), and its fields that say nothing yet.
    for (const at of missed) expect(at >= 184 && at < 224, `byte ${at}`).toBe(true);
  });

  test('of an earlier release has none', () => {
    const { bytes, preambleEnd } = encodePreamble(PARTS);
    expect(checkPreamble(header(preambleEnd), bytes)).toMatchObject({ checksums: null, damaged: [] });
  });
});
