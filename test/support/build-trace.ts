/** Assembles trace files in memory from the encoders of sdk/src/format: for tests of the reader that need no writer, and files no writer makes. */
import { compressSync as lz4 } from 'lz4-napi';
import { align8 } from '../../sdk/src/base/bytes.js';
import { crc32 } from '../../sdk/src/base/crc32.js';
import { encodeCommitRecord } from '../../sdk/src/format/commit-record.js';
import { encodeFrames } from '../../sdk/src/format/frame.js';
import { encodeFramesV01 } from '../../sdk/src/format/frame-v01.js';
import { compressionFlags, encodeHeader, Flag, HEADER_SIZE } from '../../sdk/src/format/header.js';
import { ChunkType, decodeChunks, encodeChunk, encodePreamble } from '../../sdk/src/format/preamble.js';
import { encodeSectionTable, type SectionEntry, SectionType } from '../../sdk/src/format/section-table.js';
import { encodeSegmentHeader } from '../../sdk/src/format/segment.js';
import { encodeSessionInfo, type SessionInfo, SessionStatus } from '../../sdk/src/format/session-chunk.js';
import { encodeTraceSummary, type TraceSummary } from '../../sdk/src/format/tsum.js';
import {
  Action,
  type CompressionName,
  type DutProperties,
  type FieldDef,
  FieldType,
  type Frame,
  type Item,
  type Schema,
} from '../../sdk/src/format/types.js';
import { StorageState } from '../../sdk/src/state/storage-state.js';
import { encodeSegmentTable, encodeStringTable } from './format-tables.js';

export interface TraceSpec {
  readonly schema: Schema;
  readonly dut?: DutProperties;
  /** null: a file of another writer, without session chunk and commit records. */
  readonly session?: SessionInfo | null;
  readonly compression?: CompressionName;
  readonly compress?: (raw: Uint8Array) => Uint8Array;
  /** v0.1 frames when false. */
  readonly interleaved?: boolean;
  /** Checkpoints hold the state after their segment, as one existing writer stores them. */
  readonly checkpointsAfter?: boolean;
  /** Format version 0.N; below 3 storages have no properties, and the place of the string pool is stored wrong. */
  readonly minor?: number;
  /** Segments and sections are where they happen to, as existing writers leave them. */
  readonly unaligned?: boolean;
  /** The summary is written in its old form, CSUM (docs/reference/format.md#csum). */
  readonly csum?: boolean;
}

export interface SegmentSpec {
  readonly frames: readonly Frame[];
  /** Default: where the previous segment ended, 0 for the first. */
  readonly start?: bigint;
  /** Default: one past the last frame. */
  readonly end?: bigint;
  /** Strings first used in this segment. */
  readonly strings?: readonly string[];
  /** Storages that a snapshot in front of the first frame has emptied. */
  readonly emptied?: readonly number[];
  /** Only the bytes, without commit: as a writer that died leaves them. */
  readonly uncommitted?: boolean;
  /** Replaces the encoded frames. */
  readonly rawDeltas?: Uint8Array;
  /** Makes the index container in the commit record, without checksum and place; null: none. */
  readonly index?: ((made: MadeSegment) => Uint8Array | null) | undefined;
  /** Changes header fields after the fact. */
  readonly patch?: Partial<Parameters<typeof encodeSegmentHeader>[0]>;
}

/** A segment as it is put into the file. */
export interface MadeSegment {
  readonly offset: number;
  readonly timeStartPs: bigint;
  readonly checkpoint: Uint8Array;
  /** Decompressed. */
  readonly frames: Uint8Array;
}

export const openSession: SessionInfo = {
  sessionId: new Uint8Array(16).fill(7),
  runId: new Uint8Array(16),
  coreIndex: 0,
  status: SessionStatus.OPEN,
  startTimeMs: 1_700_000_000_000n,
  endTimeMs: 0n,
  lost: 0n,
  rejected: 0n,
};

const zeroHeader = {
  versionMajor: 0,
  versionMinor: 3,
  totalTimePs: 0n,
  numSegments: 0,
  sectionTableOffset: 0n,
};

/** A trace that grows: `bytes` is the file as it is. */
export class TraceBuilder {
  /** Offsets of the segments committed. */
  readonly offsets: number[] = [];
  readonly preambleEnd: number;
  private file: Uint8Array;
  private readonly flags: number;
  private readonly sessionOffset: number;
  private readonly state: StorageState;
  private readonly strings: string[] = [];
  private readonly index: { offset: bigint; timeStartPs: bigint; timeEndPs: bigint }[] = [];
  private frameOrdinal = 0n;
  private lastTime = 0n;

  constructor(private readonly spec: TraceSpec) {
    const { schema, dut = [], session = openSession, compression = 'none', interleaved = true } = spec;
    const preamble = encodePreamble({ schema, dut, checkpointIntervalPs: 10_000n, session });
    const bytes = (spec.minor ?? 3) < 3 ? oldPreamble(preamble.bytes) : preamble.bytes;
    this.preambleEnd = HEADER_SIZE + bytes.length;
    this.sessionOffset = preamble.sessionPayloadOffset;
    this.flags = compressionFlags(compression) | (interleaved ? Flag.INTERLEAVED : Flag.COMPACT_DELTAS);
    this.state = new StorageState(schema);
    this.file = new Uint8Array(this.preambleEnd);
    this.file.set(bytes, HEADER_SIZE);
    this.writeHeader(0n);
  }

  get bytes(): Uint8Array {
    return this.file;
  }

  segment(segment: SegmentSpec): this {
    const { interleaved = true } = this.spec;
    const previous = this.index.at(-1);
    const start = segment.start ?? previous?.timeEndPs ?? 0n;
    const last = segment.frames.at(-1)?.timePs ?? start;
    const end = segment.end ?? last + 1n;
    for (const id of segment.emptied ?? []) {
      for (let slot = 0; slot < this.spec.schema.storages[id].numSlots; slot++) this.apply(clear(id, slot));
    }
    const before = this.state.encodeCheckpoint();
    for (const frame of segment.frames) for (const item of frame.items) this.apply(item);
    const checkpoint = this.spec.checkpointsAfter ? this.state.encodeCheckpoint() : before;
    const raw =
      segment.rawDeltas ??
      (interleaved ? encodeFrames(segment.frames, start) : encodeFramesV01(segment.frames, start, true));
    const deltas = this.compress(raw);
    if (this.spec.unaligned) this.misalign();
    const offset = this.file.length;
    const header = encodeSegmentHeader({
      flags: 0,
      timeStartPs: start,
      timeEndPs: end,
      prevSegmentOffset: previous?.offset ?? 0n,
      checkpointSize: checkpoint.length,
      deltasCompressedSize: deltas.length,
      deltasRawSize: raw.length,
      numFrames: segment.frames.length,
      numFramesActive: segment.frames.filter((frame) => frame.items.length > 0).length,
      ...segment.patch,
    });
    this.append(header, checkpoint, deltas);
    if (segment.uncommitted) return this;
    this.frameOrdinal += BigInt(segment.frames.length);
    this.strings.push(...(segment.strings ?? []));
    if (this.spec.session !== null)
      this.appendRecord(
        offset,
        this.file.length - offset,
        segment.strings ?? [],
        segment.index?.({ offset, timeStartPs: start, checkpoint, frames: raw }) ?? undefined,
      );
    this.index.push({ offset: BigInt(offset), timeStartPs: start, timeEndPs: end });
    this.offsets.push(offset);
    this.lastTime = last;
    return this.writeHeader(0n);
  }

  /** Writes the tables and sets F_COMPLETE. */
  finalize(
    options: {
      summary?: TraceSummary;
      session?: Partial<SessionInfo>;
      /** Further sections, given the file offset at which each begins. */
      sections?: readonly { type: number; bytes: (offset: number) => Uint8Array }[];
    } = {},
  ): this {
    const sections: SectionEntry[] = [];
    const add = (type: number, bytes: Uint8Array): void => {
      if (this.spec.unaligned) this.misalign();
      else this.append(new Uint8Array(align8(this.file.length) - this.file.length));
      sections.push({ type, flags: 0, offset: BigInt(this.file.length), size: BigInt(bytes.length) });
      this.append(bytes);
    };
    if (options.summary) {
      const tsum = encodeTraceSummary(options.summary);
      add(SectionType.COUNTER_SUMMARY, this.spec.csum ? oldSummary(tsum) : tsum);
    }
    for (const { type, bytes } of options.sections ?? []) add(type, bytes(align8(this.file.length)));
    if (this.strings.length > 0) add(SectionType.STRINGS, encodeStringTable(this.strings));
    if (this.index.length > 0) add(SectionType.SEGMENTS, encodeSegmentTable(this.index));
    this.append(new Uint8Array(align8(this.file.length) - this.file.length));
    const table = BigInt(this.file.length);
    this.append(encodeSectionTable(sections));
    const { session = openSession } = this.spec;
    if (session) {
      const closed = {
        ...session,
        status: SessionStatus.CLOSED,
        endTimeMs: 1_700_000_001_000n,
        ...options.session,
      };
      this.file.set(encodeSessionInfo(closed), this.sessionOffset);
    }
    return this.writeHeader(table);
  }

  private writeHeader(sectionTableOffset: bigint): this {
    const isComplete = sectionTableOffset !== 0n;
    const extra = isComplete ? Flag.COMPLETE | (this.strings.length > 0 ? Flag.HAS_STRINGS : 0) : 0;
    this.file.set(
      encodeHeader({
        ...zeroHeader,
        versionMinor: this.spec.minor ?? 3,
        flags: this.flags | extra,
        totalTimePs: isComplete ? this.lastTime : 0n,
        numSegments: this.index.length,
        preambleEnd: this.preambleEnd,
        sectionTableOffset,
        tailOffset: this.index.at(-1)?.offset ?? 0n,
      }),
    );
    return this;
  }

  private appendRecord(
    segmentOffset: number,
    segmentSize: number,
    strings: readonly string[],
    index?: Uint8Array,
  ): void {
    const crc = crc32(this.file.subarray(segmentOffset, segmentOffset + segmentSize));
    this.append(new Uint8Array(align8(this.file.length) - this.file.length));
    const encoder = new TextEncoder();
    const record = encodeCommitRecord(
      {
        segmentOffset: BigInt(segmentOffset),
        segmentSize,
        nextFrame: this.frameOrdinal,
        nextString: BigInt(this.strings.length),
        strings: strings.map((text) => encoder.encode(text)),
        index,
      },
      crc,
    );
    this.append(record);
  }

  private compress(raw: Uint8Array): Uint8Array {
    if (this.spec.compress) return this.spec.compress(raw);
    return this.spec.compression === 'lz4' ? new Uint8Array(lz4(Buffer.from(raw))) : raw;
  }

  private apply(item: Item): void {
    if (item.kind !== 'op') return;
    const { action, storageId, slot, field, value } = item;
    if (!this.state.inRange(action, storageId, slot, field)) return;
    this.state.apply(action, storageId, slot, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
  }

  /** Up to the next offset that is 3 above a multiple of 8. */
  private misalign(): void {
    this.append(new Uint8Array((11 - (this.file.length % 8)) % 8));
  }

  private append(...parts: readonly Uint8Array[]): void {
    const size = parts.reduce((sum, part) => sum + part.length, this.file.length);
    const grown = new Uint8Array(size);
    grown.set(this.file);
    let at = this.file.length;
    for (const part of parts) {
      grown.set(part, at);
      at += part.length;
    }
    this.file = grown;
  }
}

/** A preamble as written before version 0.3: storages without the count of properties, the offset of the string pool 2 too large. */
function oldPreamble(bytes: Uint8Array): Uint8Array {
  const chunks = decodeChunks(bytes).map(({ type, payload }) =>
    encodeChunk(type, type === ChunkType.SCHEMA ? oldSchema(payload) : payload),
  );
  return Buffer.concat([...chunks, encodeChunk(ChunkType.END, new Uint8Array(0))]);
}

function oldSchema(payload: Uint8Array): Uint8Array {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const [enums, clocks, scopes, storages] = [
    payload[0]!,
    payload[1]!,
    view.getUint16(2, true),
    view.getUint16(4, true),
  ];
  let at = 12 + clocks * 8 + scopes * 12;
  for (let i = 0; i < enums; i++) at += 4 + payload[at + 2]! * 4;
  const parts = [payload.slice(0, at)];
  for (let i = 0; i < storages; i++) {
    if (view.getUint16(at + 12, true) > 0) throw new Error('storages had no properties before version 0.3');
    const fields = view.getUint16(at + 6, true) * 8;
    parts.push(payload.slice(at, at + 12), payload.slice(at + 16, at + 16 + fields));
    at += 16 + fields;
  }
  const old = Buffer.concat([...parts, payload.slice(at)]);
  old.writeUInt16LE(view.getUint16(10, true) - 4 * storages + 2, 10);
  return old;
}

/** A TSUM without density as CSUM: another magic, and no instructions. */
function oldSummary(tsum: Uint8Array): Uint8Array {
  const magic = new TextEncoder().encode('CSUM');
  return Buffer.concat([magic, tsum.subarray(4, 12), tsum.subarray(24)]);
}

const field = (name: string, type: FieldType, enumId = 0, role = 0, pairId = 0): FieldDef => ({
  name,
  type,
  enumId,
  role,
  pairId,
});

/** A small core: sparse entities, a sparse and a dense buffer, a counter, a property of each role, one event with text, one with a label. */
export const coreSchema: Schema = {
  clocks: [{ name: 'core_clk', clockId: 0, periodPs: 1000 }],
  scopes: [
    { name: 'root', scopeId: 0, parentId: 0xffff, protocol: null, clockId: 0xff },
    { name: 'core0', scopeId: 1, parentId: 0, protocol: 'cpu', clockId: 0 },
  ],
  enums: [
    {
      name: 'pipeline_stage',
      values: [
        { value: 0, name: 'fetch' },
        { value: 1, name: 'execute' },
      ],
    },
  ],
  storages: [
    {
      name: 'entities',
      storageId: 0,
      numSlots: 12,
      flags: 1,
      scopeId: 1,
      fields: [field('entity_id', FieldType.U32), field('pc', FieldType.U64), field('delta', FieldType.I16)],
      properties: [],
    },
    {
      name: 'rob',
      storageId: 1,
      numSlots: 4,
      flags: 3,
      scopeId: 1,
      fields: [field('entity_id', FieldType.U32), field('ready', FieldType.BOOL)],
      properties: [field('head', FieldType.U16, 0, 1, 1), field('label', FieldType.STRING_REF)],
    },
    {
      name: 'queue',
      storageId: 2,
      numSlots: 3,
      flags: 2,
      scopeId: 1,
      fields: [field('entity_id', FieldType.U32)],
      properties: [],
    },
    {
      name: 'retired',
      storageId: 3,
      numSlots: 1,
      flags: 0,
      scopeId: 1,
      fields: [field('count', FieldType.U64)],
      properties: [],
    },
  ],
  events: [
    {
      name: 'stage_transition',
      eventTypeId: 0,
      scopeId: 1,
      fields: [field('entity_id', FieldType.U32), field('stage', FieldType.ENUM)],
    },
    {
      name: 'annotate',
      eventTypeId: 1,
      scopeId: 1,
      fields: [field('entity_id', FieldType.U32), field('text', FieldType.STRING_REF)],
    },
    { name: 'reset', eventTypeId: 2, scopeId: 0xffff, fields: [] },
  ],
  summaryFields: [],
};

export const set = (storageId: number, slot: number, fieldIndex: number, value: number | bigint): Item => ({
  kind: 'op',
  action: Action.SET,
  storageId,
  slot,
  field: fieldIndex,
  value: BigInt.asUintN(64, BigInt(value)),
});
export const add = (storageId: number, slot: number, fieldIndex: number, value: number | bigint): Item =>
  ({
    ...set(storageId, slot, fieldIndex, value),
    action: Action.ADD,
  }) as Item;
export const clear = (storageId: number, slot: number): Item =>
  ({ ...set(storageId, slot, 0, 0), action: Action.CLEAR }) as Item;
export const prop = (storageId: number, property: number, value: number | bigint): Item =>
  ({ ...set(storageId, 0, property, value), action: Action.PROP_SET }) as Item;

export const stage = (entity: number, label: number): Item => ({
  kind: 'event',
  eventTypeId: 0,
  payload: Uint8Array.of(entity & 255, entity >> 8, 0, 0, label),
});
export const annotate = (entity: number, text: number): Item => ({
  kind: 'event',
  eventTypeId: 1,
  payload: Uint8Array.of(entity & 255, entity >> 8, 0, 0, text & 255, text >> 8, 0, 0),
});
export const frame = (timePs: number | bigint, ...items: Item[]): Frame => ({
  timePs: BigInt(timePs),
  items,
});
