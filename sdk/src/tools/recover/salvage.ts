/**
 * One segment on its way into the output: replayed on trial first, so that nothing reaches the state of the output that is not going to be in it.
 * What cannot be taken as it is (cut off, damaged after some frame) is encoded anew as far as it is good.
 */
import { isUscopeError } from '../../base/errors.js';
import { decompressCutLz4Blob } from '../../format/compression.js';
import { CursorItem, encodeFrames, FrameCursor } from '../../format/frame.js';
import { encodeFramesV01 } from '../../format/frame-v01.js';
import { SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import {
  type Action,
  type CompressionName,
  type Frame,
  type Item,
  packedSize,
  type Schema,
} from '../../format/types.js';
import type { Codec } from '../../reader/codec.js';
import type { StorageState } from '../../state/storage-state.js';
import type { Compressor } from '../../writer/compression/compressor.js';
import { checkpointOf, copyState } from '../verify/checkpoints.js';
import { isFormatError } from '../verify/finding.js';
import { Replayer, type SegmentReplay } from '../verify/replay.js';
import type { FoundSegment } from '../verify/segment-walk.js';

export interface SalvageOptions {
  readonly schema: Schema;
  readonly interleaved: boolean;
  readonly compression: CompressionName;
  readonly codec: Codec;
  readonly ours: boolean;
  readonly maxSegmentBytes: number;
  readonly maxStateBytes: number | undefined;
}

/** What can be taken of a segment. */
export interface Salvaged {
  readonly raw: Uint8Array;
  /** The blob that yields `raw`. */
  readonly deltas: Uint8Array;
  readonly replay: SegmentReplay;
  /** Frames that the header promises and that could not be taken. */
  readonly lostFrames: number;
}

export class Salvager {
  private readonly trial: Replayer;

  constructor(
    private readonly options: SalvageOptions,
    private readonly compressor: Compressor,
  ) {
    this.trial = new Replayer({ ...options, strict: options.ours, summarizer: null, problem: () => {} });
  }

  /** The state of the last trial: after the last frame taken. */
  get state(): StorageState {
    return this.trial.state;
  }

  /** Whether the checkpoint can be read; `state` then holds it. */
  loadCheckpoint(segment: FoundSegment): boolean {
    try {
      this.trial.state.loadCheckpoint(checkpointOf(segment));
      return true;
    } catch (error) {
      if (!isFormatError(error)) throw error;
      return false;
    }
  }

  /** What the segment gives from `state` on; null: not one frame. */
  async take(segment: FoundSegment): Promise<Salvaged | null> {
    const whole = await this.decompressed(segment);
    const start = this.trial.state.clone();
    if (whole !== null) {
      const replay = this.trial.frames(segment, whole);
      const deltas = segment.bytes.subarray(SEGMENT_HEADER_SIZE + segment.header.checkpointSize);
      if (replay.isWhole) return { raw: whole, deltas, replay, lostFrames: 0 };
      copyState(start, this.trial.state);
    }
    const part = whole ?? (this.options.ours ? null : this.prefixOf(segment));
    return part === null ? null : this.encodeAnew(segment, part);
  }

  private async decompressed(segment: FoundSegment): Promise<Uint8Array | null> {
    try {
      return await this.trial.decompress(segment);
    } catch (error) {
      if (!isFormatError(error)) throw error;
      return null;
    }
  }

  /** Of a segment that was cut off the frames in front are what they always were. */
  private prefixOf({ bytes, header }: FoundSegment): Uint8Array | null {
    const { compression, maxSegmentBytes } = this.options;
    const isCutOff = bytes.length < SEGMENT_HEADER_SIZE + header.checkpointSize + header.deltasCompressedSize;
    if (!isCutOff) return null; // what is damaged somewhere may be wrong from there on
    const blob = bytes.subarray(SEGMENT_HEADER_SIZE + header.checkpointSize);
    if (header.deltasRawSize > maxSegmentBytes) return null;
    if (compression === 'none') return blob.subarray(0, header.deltasRawSize);
    return compression === 'lz4' ? decompressCutLz4Blob(blob, header.deltasRawSize) : null;
  }

  private async encodeAnew(segment: FoundSegment, part: Uint8Array): Promise<Salvaged | null> {
    const { header } = segment;
    const { interleaved } = this.options;
    const frames = this.goodFrames(new FrameCursor(part, header.timeStartPs, interleaved));
    if (frames.length === 0) return null;
    const start = header.timeStartPs;
    const raw = interleaved ? encodeFrames(frames, start) : encodeFramesV01(frames, start, true);
    const replay = this.trial.frames(segment, raw);
    const compressed = await this.compressor.compress(raw);
    const deltas = compressed.slice();
    this.compressor.release(compressed);
    return { raw, deltas, replay, lostFrames: Math.max(0, header.numFrames - frames.length) };
  }

  /** Frames up to the first that does not fit. */
  private goodFrames(cursor: FrameCursor): Frame[] {
    const frames: Frame[] = [];
    let items: Item[] = [];
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME) {
          items = [];
          frames.push({ timePs: cursor.timePs, items });
          continue;
        }
        const item = this.itemAt(cursor);
        if (item === null) return frames.slice(0, -1);
        items.push(item);
      }
      return frames;
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      return frames.slice(0, -1); // the last one is not all there
    }
  }

  /** null: it does not fit the schema. Slots beyond a storage and unknown events do not either, but readers skip those. */
  private itemAt(cursor: FrameCursor): Item | null {
    const { schema } = this.options;
    if (cursor.kind === CursorItem.EVENT) {
      const event = schema.events[cursor.eventType];
      if (event && packedSize(event.fields) !== cursor.payloadSize) return null;
      return { kind: 'event', eventTypeId: cursor.eventType, payload: cursor.payload.slice() };
    }
    const { storageId, slot, field, value } = cursor;
    const action = cursor.action as Action;
    const fits = this.trial.state.inRange(action, storageId, 0, field);
    return fits ? { kind: 'op', action, storageId, slot, field, value } : null;
  }
}
