/** Properties of the whole format: whatever can be written is read back equal, and whatever bytes are read, only coded errors come out. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeFrames } from '../../../test/support/decode-frames.js';
import {
  decodeSegmentTable,
  encodeSegmentTable,
  encodeStringTable,
  StringTable,
} from '../../../test/support/format-tables.js';
import { isUscopeError } from '../base/errors.js';
import {
  Action,
  type CheckpointBlock,
  CursorItem,
  countBits,
  decodeCheckpoint,
  decodeHeader,
  decodePreamble,
  decodeSectionTable,
  decodeSegmentHeader,
  decodeTraceSummary,
  encodeCheckpoint,
  encodeFrames,
  encodeFramesV01,
  encodeHeader,
  encodePreamble,
  encodeSectionTable,
  encodeSegmentHeader,
  type FieldDef,
  FieldType,
  type Frame,
  FrameCursor,
  INHERIT_CLOCK,
  type Item,
  NO_ID,
  packedSize,
  type Schema,
  SF_SPARSE,
  type StorageDef,
} from './index.js';

const u8 = fc.integer({ min: 0, max: 0xff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
/** Of every magnitude, so that both forms of op and all lengths of LEB128 occur. */
const u64 = fc
  .tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(63))
  .map(([value, shift]) => value >> BigInt(shift));
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
/** Any text: code points of all lengths in UTF-8, NUL among them. */
const text = fc
  .array(
    fc.oneof(
      fc.nat(0x7f),
      fc.integer({ min: 0x80, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10_ffff }),
    ),
    {
      maxLength: 8,
    },
  )
  .map((points) => String.fromCodePoint(...points));
const name = text.map((any) => any.replaceAll('\0', '_'));
const index = (length: number) => fc.nat(length - 1);

function field(numEnums: number, isProperty: boolean): fc.Arbitrary<FieldDef> {
  const types = Object.values(FieldType).filter((type) => type !== FieldType.ENUM || numEnums > 0);
  return fc.constantFrom(...types).chain((type) =>
    fc.record({
      name,
      type: fc.constant(type),
      enumId: type === FieldType.ENUM ? index(numEnums) : fc.constant(0),
      role: isProperty ? fc.nat(2) : fc.constant(0),
      pairId: isProperty ? u8 : fc.constant(0),
    }),
  );
}

/** Items whose ids are their indices. */
function numbered<T, K extends string>(
  list: fc.Arbitrary<T[]>,
  key: K,
): fc.Arbitrary<(T & Record<K, number>)[]> {
  return list.map((items) => items.map((item, id) => ({ ...item, [key]: id }) as T & Record<K, number>));
}

const schemas: fc.Arbitrary<Schema> = fc
  .record({
    clocks: fc.integer({ min: 1, max: 3 }),
    scopes: fc.integer({ min: 1, max: 5 }),
    enums: fc.nat(3),
  })
  .chain((count) => {
    const scopeId = fc.oneof(fc.constant(NO_ID), index(count.scopes));
    const clockId = fc.oneof(fc.constant(INHERIT_CLOCK), index(count.clocks));
    const fields = fc.array(field(count.enums, false), { maxLength: 5 });
    const properties = fc.array(field(count.enums, true), { maxLength: 3 });
    const list = <T>(of: fc.Arbitrary<T>, length: number) =>
      fc.array(of, { minLength: length, maxLength: length });
    const enumValues = fc.array(fc.record({ value: u8, name }), { maxLength: 5 });
    const protocol = fc.option(name);
    return fc.record({
      clocks: numbered(list(fc.record({ name, periodPs: u32 }), count.clocks), 'clockId'),
      scopes: fc
        .tuple(list(fc.record({ name, protocol, clockId }), count.scopes), list(fc.nat(), count.scopes))
        .map(([scopes, parents]) =>
          scopes.map((scope, scopeId) => ({
            ...scope,
            scopeId,
            parentId: scopeId === 0 ? NO_ID : parents[scopeId] % scopeId,
          })),
        ),
      enums: list(fc.record({ name, values: enumValues }), count.enums),
      storages: numbered(
        fc.array(fc.record({ name, numSlots: fc.nat(40), flags: fc.nat(3), scopeId, fields, properties }), {
          maxLength: 5,
        }),
        'storageId',
      ),
      events: numbered(fc.array(fc.record({ name, scopeId, fields }), { maxLength: 4 }), 'eventTypeId'),
      summaryFields: fc.array(
        fc.record({ name, type: fc.constantFrom(...Object.values(FieldType)), scopeId }),
        { maxLength: 3 },
      ),
    });
  });

const session = fc.record({
  sessionId: bytes(16),
  runId: bytes(16),
  coreIndex: u32,
  status: fc.constantFrom(0, 1, 2, 3, 4),
  startTimeMs: u64,
  endTimeMs: u64,
  lost: u64,
  rejected: u64,
});

const preambles = fc.record({
  schema: schemas,
  dut: fc.array(fc.tuple(name, name), { maxLength: 4 }),
  checkpointIntervalPs: u64,
  session: fc.option(session),
});

const op: fc.Arbitrary<Item> = fc
  .record({
    kind: fc.constant('op' as const),
    action: fc.constantFrom(...Object.values(Action)),
    storageId: fc.oneof(u8, u16),
    slot: u16,
    field: u16,
    value: u64,
  })
  .map((item) => (item.action === Action.CLEAR ? { ...item, field: 0, value: 0n } : item));
const event: fc.Arbitrary<Item> = fc.record({
  kind: fc.constant('event' as const),
  eventTypeId: u16,
  payload: fc.uint8Array({ maxLength: 30 }),
});

/** Frames in order of time, from a start time. */
function framesOf(items: fc.Arbitrary<Item[]>): fc.Arbitrary<{ start: bigint; frames: Frame[] }> {
  const delta = u64.map((value) => value >> 4n);
  return fc
    .record({ start: delta, list: fc.array(fc.tuple(delta, items), { maxLength: 12 }) })
    .map(({ start, list }) => {
      let timePs = start;
      const frames = list.map(([by, frameItems]) => {
        timePs += by;
        return { timePs, items: frameItems };
      });
      return { start, frames };
    });
}

function checkpointOf(storage: StorageDef): fc.Arbitrary<CheckpointBlock> {
  const { storageId, numSlots } = storage;
  const valid =
    storage.flags & SF_SPARSE ? fc.array(fc.boolean(), { minLength: numSlots, maxLength: numSlots }) : null;
  return (valid ?? fc.constant(null)).chain((bits) => {
    const mask = bits && new Uint8Array((numSlots + 7) >>> 3);
    bits?.forEach((bit, slot) => {
      if (bit) mask![slot >> 3] |= 1 << (slot & 7);
    });
    const slots = mask ? countBits(mask) : numSlots;
    return fc.record({
      storageId: fc.constant(storageId),
      mask: fc.constant(mask),
      slotData: bytes(slots * packedSize(storage.fields)),
      propertyData: bytes(packedSize(storage.properties)),
    });
  });
}

const checkpoints = schemas.chain((schema) =>
  fc.tuple(...schema.storages.map(checkpointOf)).map((blocks) => ({ schema, blocks })),
);

describe('what is written is read back equal', () => {
  test('preambles', () => {
    fc.assert(
      fc.property(preambles, (parts) => {
        const { bytes, preambleEnd, sessionPayloadOffset } = encodePreamble(parts);
        expect(decodePreamble(bytes, 3)).toEqual({
          ...parts,
          sessionChunkOffset: parts.session ? sessionPayloadOffset : null,
          unknownChunks: [],
        });
        expect(preambleEnd).toBe(48 + bytes.length);
      }),
    );
  });

  test('headers', () => {
    const fileHeader = fc.record({
      versionMajor: fc.constant(0),
      versionMinor: fc.nat(3),
      flags: u8.map((flags) => flags & ~0x30),
      totalTimePs: u64,
      numSegments: u32,
      preambleEnd: fc.integer({ min: 48, max: 0xffff_ffff }),
      sectionTableOffset: u64,
      tailOffset: u64,
    });
    fc.assert(
      fc.property(fileHeader, (header) => {
        expect(decodeHeader(encodeHeader(header))).toEqual(header);
      }),
    );
    const segmentHeader = fc.record({
      flags: u32,
      timeStartPs: u64,
      timeEndPs: u64,
      prevSegmentOffset: u64,
      checkpointSize: u32,
      deltasCompressedSize: u32,
      deltasRawSize: u32,
      numFrames: u32,
      numFramesActive: u32,
    });
    fc.assert(
      fc.property(segmentHeader, (header) => {
        fc.pre(header.timeStartPs <= header.timeEndPs);
        expect(decodeSegmentHeader(encodeSegmentHeader(header))).toEqual(header);
      }),
    );
  });

  test('tables', () => {
    const sections = fc.array(
      fc.record({ type: fc.integer({ min: 1, max: 0xffff }), flags: u16, offset: u64, size: u64 }),
    );
    const segments = fc.array(fc.record({ offset: u64, timeStartPs: u64, timeEndPs: u64 }));
    const strings = fc.array(text);
    fc.assert(
      fc.property(sections, (table) => {
        expect(decodeSectionTable(encodeSectionTable(table))).toEqual(table);
      }),
    );
    fc.assert(
      fc.property(segments, (table) => {
        expect(decodeSegmentTable(encodeSegmentTable(table))).toEqual(table);
      }),
    );
    fc.assert(
      fc.property(strings, (texts) => {
        const table = new StringTable(encodeStringTable(texts));
        expect(texts.map((_, i) => table.get(i))).toEqual(texts);
        expect(table.length).toBe(texts.length);
      }),
    );
  });

  test('checkpoints of any schema', () => {
    fc.assert(
      fc.property(checkpoints, ({ schema, blocks }) => {
        expect(decodeCheckpoint(encodeCheckpoint(schema, blocks), schema)).toEqual(blocks);
      }),
    );
  });

  test('frames, with the order of ops and events', () => {
    fc.assert(
      fc.property(framesOf(fc.array(fc.oneof(op, event), { maxLength: 6 })), ({ start, frames }) => {
        expect(decodeFrames(encodeFrames(frames, start), start)).toEqual(frames);
      }),
      { numRuns: 300 },
    );
  });

  test('frames of version 0.1, ops before events', () => {
    const items = fc
      .tuple(fc.array(op, { maxLength: 5 }), fc.array(event, { maxLength: 4 }))
      .map(([ops, events]) => [...ops, ...events]);
    fc.assert(
      fc.property(framesOf(items), fc.boolean(), ({ start, frames }, allowCompact) => {
        const blob = encodeFramesV01(frames, start, allowCompact);
        expect(decodeFrames(blob, start, undefined, false)).toEqual(frames);
      }),
      { numRuns: 300 },
    );
  });
});

/** Runs `decode`; true when it succeeded, false for a coded error. Anything else fails the test. */
function decodes(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    return false;
  }
}

describe('bad bytes end in coded errors', () => {
  test('a preamble with bytes overwritten, of any minor version', () => {
    const edits = fc.array(fc.tuple(fc.nat(), u8), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(preambles, edits, fc.nat(3), (parts, list, minor) => {
        const { bytes } = encodePreamble(parts);
        for (const [at, value] of list) bytes[at % bytes.length] = value;
        decodes(() => decodePreamble(bytes, minor));
      }),
      { numRuns: 300 },
    );
  });

  test('a preamble cut anywhere never decodes', () => {
    fc.assert(
      fc.property(preambles, fc.nat(), (parts, at) => {
        const { bytes } = encodePreamble(parts);
        expect(decodes(() => decodePreamble(bytes.subarray(0, at % bytes.length), 3))).toBe(false);
      }),
    );
  });

  test('arbitrary bytes as frames: the cursor ends, and stays inside the blob', () => {
    const likely = fc.oneof(u8, fc.constantFrom(0, 1, 2, 3, 4, 128));
    fc.assert(
      fc.property(fc.array(likely, { maxLength: 200 }), fc.boolean(), u64, (list, interleaved, start) => {
        const cursor = new FrameCursor(Uint8Array.from(list), start, interleaved);
        decodes(() => {
          while (cursor.next()) {
            expect(cursor.offset).toBeGreaterThan(cursor.itemOffset);
            expect(cursor.offset).toBeLessThanOrEqual(list.length);
            if (cursor.kind === CursorItem.EVENT) expect(cursor.payload.length).toBe(cursor.payloadSize);
          }
        });
      }),
      { numRuns: 1000 },
    );
  });

  test('arbitrary bytes as checkpoint, summary, tables and headers', () => {
    const magic = fc.constantFrom('TSUM', 'CSUM', 'uSEG', 'uSCP', '');
    fc.assert(
      fc.property(checkpoints, magic, fc.uint8Array({ maxLength: 120 }), ({ schema }, start, rest) => {
        const bytes = Uint8Array.of(...new TextEncoder().encode(start), ...rest);
        decodes(() => decodeCheckpoint(bytes, schema));
        decodes(() => decodeTraceSummary(bytes));
        decodes(() => decodeSectionTable(bytes));
        decodes(() => decodeSegmentTable(bytes));
        decodes(() => decodeSegmentHeader(bytes));
        decodes(() => decodeHeader(bytes));
        decodes(() => {
          const table = new StringTable(bytes);
          for (let i = 0; i < table.length; i++) decodes(() => table.get(i));
        });
      }),
      { numRuns: 500 },
    );
  });
});
