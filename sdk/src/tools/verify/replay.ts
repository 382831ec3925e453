/**
 * Replays the frames of segment after segment into a state: checks every op and event against the schema, feeds a summarizer, counts. Nothing is
 * allocated per item. A problem ends its segment, not the replay: the next segment has a separate checkpoint.
 */
import type { ErrorCode } from '../../base/codes.js';
import { isUscopeError } from '../../base/errors.js';
import { CursorItem, FrameCursor } from '../../format/frame.js';
import { SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { Action, type CompressionName, type FieldDef, packedSize, type Schema } from '../../format/types.js';
import { type Codec, decompressDeltas } from '../../reader/codec.js';
import { stateLayout } from '../../state/layout.js';
import { StorageState } from '../../state/storage-state.js';
import { stringFlags, stringOffsets } from '../../state/string-cells.js';
import type { Summarizer } from '../../writer/frames/summarizer.js';
import type { Severity } from './finding.js';
import type { FoundSegment } from './segment-walk.js';

export interface ReplayOptions {
  readonly schema: Schema;
  readonly interleaved: boolean;
  readonly compression: CompressionName;
  readonly codec: Codec;
  /** Written by this project and not recovered: what other writers are forgiven is an error. */
  readonly strict: boolean;
  readonly maxSegmentBytes: number;
  readonly maxStateBytes?: number | undefined;
  readonly summarizer: Summarizer | null;
  /** Something that does not fit, at a file offset; `kind` names what other writers are known for. */
  problem(severity: Severity, code: ErrorCode, offset: number, detail: string, kind?: string): void;
}

export interface SegmentReplay {
  /** Every frame was taken, none with a problem. */
  readonly isWhole: boolean;
  readonly frames: number;
  readonly activeFrames: number;
  readonly firstTimePs: bigint | null;
  readonly lastTimePs: bigint | null;
  /** Ops on slots that do not exist and events that the schema does not define: skipped. */
  readonly skipped: number;
}

export class Replayer {
  readonly state: StorageState;
  items = 0;
  /** Highest string index that a value names; -1: none does. */
  maxString = -1;
  private readonly payloadSizes: Uint32Array;
  /** Per event type: offsets of its STRING_REF fields in the payload. */
  private readonly eventStrings: readonly (readonly number[])[];
  /** Per storage: 1 where a field (then property) is a STRING_REF. */
  private readonly fieldStrings: readonly Uint8Array[];
  private readonly propertyStrings: readonly Uint8Array[];

  constructor(private readonly options: ReplayOptions) {
    const { schema } = options;
    this.state = new StorageState(stateLayout(schema, options.maxStateBytes));
    this.payloadSizes = Uint32Array.from(schema.events, (event) => packedSize(event.fields));
    this.eventStrings = schema.events.map((event) => stringOffsets(event.fields));
    this.fieldStrings = schema.storages.map(({ fields }) => flagsOf(fields));
    this.propertyStrings = schema.storages.map(({ properties }) => flagsOf(properties));
  }

  /** The raw frames of a segment. @throws UscopeError FORMAT_*, READER_COMPRESSION */
  decompress({ bytes, header, offset }: FoundSegment): Promise<Uint8Array> {
    const at = SEGMENT_HEADER_SIZE + header.checkpointSize;
    const { compression: method, codec, maxSegmentBytes } = this.options;
    const blob = { bytes: bytes.subarray(at), rawSize: header.deltasRawSize, method, offset: offset + at };
    return decompressDeltas(blob, codec, maxSegmentBytes);
  }

  /**
   * Applies the frames of `raw` to the state.
   * @param numStrings strings that these frames may name
   */
  frames(segment: FoundSegment, raw: Uint8Array, numStrings = Number.POSITIVE_INFINITY): SegmentReplay {
    const run = new SegmentRun(this, this.options, segment, numStrings);
    return run.take(new FrameCursor(raw, segment.header.timeStartPs, this.options.interleaved));
  }

  // -- what a run asks; not part of the interface

  payloadSize(type: number): number {
    return type < this.payloadSizes.length ? this.payloadSizes[type] : -1;
  }

  stringsOfEvent(type: number): readonly number[] {
    return this.eventStrings[type];
  }

  isString(action: number, storageId: number, field: number): boolean {
    if (action === Action.SET) return this.fieldStrings[storageId][field] === 1;
    return action === Action.PROP_SET && this.propertyStrings[storageId][field] === 1;
  }
}

class SegmentRun {
  private activeFrames = 0;
  private firstTimePs: bigint | null = null;
  private skipped = 0;
  private problems = 0;
  private touched = false;
  private lastLo = 0;
  private lastHi = 0;

  constructor(
    private readonly replayer: Replayer,
    private readonly options: ReplayOptions,
    private readonly segment: FoundSegment,
    private readonly numStrings: number,
  ) {}

  take(cursor: FrameCursor): SegmentReplay {
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.OP) this.op(cursor);
        else if (cursor.kind === CursorItem.EVENT) this.event(cursor);
        else this.frame(cursor);
      }
      this.endFrame();
    } catch (error) {
      this.broken(cursor, error);
    }
    return {
      isWhole: this.problems === 0,
      frames: cursor.frames,
      activeFrames: this.activeFrames,
      firstTimePs: this.firstTimePs,
      lastTimePs: this.firstTimePs === null ? null : (BigInt(this.lastHi) << 32n) | BigInt(this.lastLo),
      skipped: this.skipped,
    };
  }

  private frame(cursor: FrameCursor): void {
    this.endFrame();
    if (this.firstTimePs === null) this.firstTimePs = cursor.timePs;
    this.lastLo = cursor.timeLo;
    this.lastHi = cursor.timeHi;
    if (cursor.numItems > 0) this.activeFrames++;
  }

  private endFrame(): void {
    if (this.touched) this.options.summarizer?.endFrame(this.lastLo, this.lastHi);
    this.touched = false;
  }

  private op(cursor: FrameCursor): void {
    const { replayer } = this;
    const { action, storageId, slot, field, lo, hi } = cursor;
    replayer.items++;
    if (!replayer.state.inRange(action, storageId, slot, field)) {
      this.outOfRange(cursor);
      return;
    }
    if (replayer.isString(action, storageId, field)) this.string(cursor, lo);
    replayer.state.apply(action, storageId, slot, field, lo, hi);
    const { summarizer } = this.options;
    if (summarizer?.watched[storageId]) {
      summarizer.op(action as Action, storageId, slot, field, lo, hi);
      this.touched = true;
    }
  }

  private event(cursor: FrameCursor): void {
    const { replayer } = this;
    const { eventType, payloadSize } = cursor;
    replayer.items++;
    const expected = replayer.payloadSize(eventType);
    if (expected === payloadSize) {
      const offsets = replayer.stringsOfEvent(eventType);
      for (let i = 0; i < offsets.length; i++)
        this.string(cursor, u32At(cursor.bytes, cursor.payloadOffset + offsets[i]));
    } else if (expected >= 0) {
      const { name } = this.options.schema.events[eventType];
      this.report(
        cursor,
        'FORMAT_LENGTH',
        `event "${name}" has ${payloadSize} bytes, its fields take ${expected}`,
      );
    } else this.unknown(cursor, `event type ${eventType} is not in the schema`, 'unknown-event');
  }

  /** A slot beyond its storage is a habit of one writer, whose readers skip such ops; any other id is damage. */
  private outOfRange(cursor: FrameCursor): void {
    const { action, storageId, slot, field } = cursor;
    const storage = this.options.schema.storages[storageId];
    if (!storage) {
      this.report(cursor, 'FORMAT_ID', `storage ${storageId} is not in the schema`);
      return;
    }
    const fields = action === Action.PROP_SET ? storage.properties : storage.fields;
    const isSlot = action === Action.CLEAR || (action !== Action.PROP_SET && field < fields.length);
    if (isSlot) this.unknown(cursor, `"${storage.name}" has no slot ${slot}`, 'slot-out-of-range');
    else {
      const kind = action === Action.PROP_SET ? 'property' : 'field';
      this.report(cursor, 'FORMAT_ID', `"${storage.name}" has no ${kind} ${field}`);
    }
  }

  private unknown(cursor: FrameCursor, detail: string, kind: string): void {
    this.skipped++;
    if (this.options.strict) this.report(cursor, 'FORMAT_ID', detail);
    else {
      const place = `${detail} (first at ${cursor.timePs} ps); readers skip it`;
      this.options.problem('warning', 'VERIFY_OTHER_WRITER', this.segment.offset, place, kind);
    }
  }

  private string(cursor: FrameCursor, index: number): void {
    const { replayer } = this;
    if (index > replayer.maxString) replayer.maxString = index;
    if (index < this.numStrings) return;
    const detail = `a value at ${cursor.timePs} ps names string ${index}, but there are ${this.numStrings}`;
    const severity = this.options.strict ? 'error' : 'warning';
    this.options.problem(severity, 'FORMAT_ID', this.segment.offset, detail, 'dangling-string');
  }

  private report(cursor: FrameCursor, code: ErrorCode, detail: string): void {
    const { offset } = this.segment;
    // One of a kind is enough from one segment: when ids are wrong, thousands are.
    if (this.problems++ > 0) return;
    const where = `at ${cursor.timePs} ps, byte ${cursor.itemOffset} of the deltas of the segment at ${offset}`;
    this.options.problem('error', code, offset, `${detail} (${where})`);
  }

  private broken(cursor: FrameCursor, error: unknown): void {
    this.options.summarizer?.abortFrame();
    if (!isUscopeError(error)) throw error;
    this.problems = 0; // the end of the segment's frames is always reported
    this.report(cursor, error.code, error.detail);
  }
}

const flagsOf = (fields: readonly FieldDef[]): Uint8Array =>
  stringFlags(fields) ?? new Uint8Array(fields.length);

function u32At(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}
