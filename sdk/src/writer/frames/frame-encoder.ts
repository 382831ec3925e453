/**
 * The plain path of the writer, second step: applies a checked frame's ops to the shadow state, feeds the summarizer and appends the
 * interleaved frame (docs/reference/format.md#interleaved-frames) to the segment's delta blob, compact when every op allows it, else wide.
 *
 * FrameChecker and this are the reference for the fast path (FrameKernel). They take the frames that it leaves to them, and every frame
 * where there is no WebAssembly.
 */
import { EVENT_HEADER_SIZE, ItemTag, TAGGED_COMPACT_OP_SIZE, WIDE_OP_SIZE } from '../../format/constants.js';
import {
  EVENT_INLINE_BYTES,
  eventExtraRecords,
  payloadRecords,
  RECORD_WORDS,
  RecordKind,
} from '../../format/record.js';
import type { Action } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import type { FrameChecker } from './frame-checker.js';
import type { SegmentBuffer } from './segment-buffer.js';
import type { Summarizer } from './summarizer.js';

const [TAG_WIDE, TAG_COMPACT, TAG_EVENT] = [ItemTag.WIDE, ItemTag.COMPACT, ItemTag.EVENT];
const [WIDE_BYTES, COMPACT_BYTES, EVENT_HEADER_BYTES] = [
  WIDE_OP_SIZE,
  TAGGED_COMPACT_OP_SIZE,
  EVENT_HEADER_SIZE,
];
/** LEB128 delta (at most 10 bytes) and item count. */
const FRAME_HEADER_MAX_BYTES = 12;

export class FrameEncoder {
  /** Where STRING records inside frames go; called with their position, length and index. */
  onString: (words: Uint32Array, record: number) => void = () => {};

  constructor(
    private readonly state: StorageState,
    private readonly summarizer: Summarizer | null,
  ) {}

  /**
   * Appends one frame. `first` is the word after BEGIN, `checked` the result of scanning it; (deltaLo, deltaHi) is the time since the
   * previous frame of the segment, (timeLo, timeHi) the frame's time, in ps.
   */
  encode(
    words: Uint32Array,
    first: number,
    checked: FrameChecker,
    deltaLo: number,
    deltaHi: number,
    timeLo: number,
    timeHi: number,
    buffer: SegmentBuffer,
  ): void {
    const ops = checked.numItems - checked.numEvents;
    const opBytes = checked.compact ? COMPACT_BYTES : WIDE_BYTES;
    buffer.reserve(
      FRAME_HEADER_MAX_BYTES +
        ops * opBytes +
        checked.numEvents * EVENT_HEADER_BYTES +
        checked.eventBytes +
        8,
    );
    const countAt = putLeb128Delta(buffer.bytes, buffer.length, deltaLo, deltaHi);
    buffer.view.setUint16(countAt, checked.numItems, true);
    buffer.length = this.encodeItems(words, first, checked, countAt + 2, buffer, timeLo, timeHi);
    buffer.numFrames++;
    if (checked.numItems > 0) buffer.numActiveFrames++;
  }

  private encodeItems(
    words: Uint32Array,
    first: number,
    checked: FrameChecker,
    start: number,
    buffer: SegmentBuffer,
    timeLo: number,
    timeHi: number,
  ): number {
    const { state, summarizer } = this;
    const { view } = buffer;
    const watched = summarizer?.watched ?? null;
    const { compact, endWord: end } = checked;
    let touched = false;
    let at = start;
    let i = first;
    while (i < end) {
      const word0 = words[i];
      const kind = word0 & 0xff;
      if (kind === RecordKind.OP) {
        const word1 = words[i + 1];
        const lo = words[i + 2];
        const hi = words[i + 3];
        const action = (word0 >>> 8) & 0xff;
        const storage = word0 >>> 16;
        if (compact) {
          view.setUint32(
            at,
            TAG_COMPACT | (action << 8) | ((storage & 0xff) << 16) | ((word1 & 0xff) << 24),
            true,
          );
          view.setUint32(at + 4, (word1 >>> 8) | ((lo & 0xff) << 24), true);
          view.setUint8(at + 8, lo >>> 8);
          at += COMPACT_BYTES;
        } else {
          view.setUint32(at, TAG_WIDE | (word0 & 0xffffff00), true);
          view.setUint32(at + 4, word1, true);
          view.setUint32(at + 8, lo, true);
          view.setUint32(at + 12, hi, true);
          at += WIDE_BYTES;
        }
        state.apply(action, storage, word1 & 0xffff, word1 >>> 16, lo, hi);
        if (watched !== null && watched[storage] !== 0) {
          summarizer!.op(action as Action, storage, word1 & 0xffff, word1 >>> 16, lo, hi);
          touched = true;
        }
        i += RECORD_WORDS;
      } else if (kind === RecordKind.EVENT) {
        const size = words[i + 1];
        view.setUint32(at, TAG_EVENT | (word0 & 0xffff0000), true);
        view.setUint32(at + 4, size, true);
        // The eight inline bytes go out whole; what lies past a shorter payload is overwritten by the next item.
        view.setUint32(at + 8, words[i + 2], true);
        view.setUint32(at + 12, words[i + 3], true);
        if (size > EVENT_INLINE_BYTES)
          copyPayload(words, i + RECORD_WORDS, size - EVENT_INLINE_BYTES, view, at + 16);
        at += EVENT_HEADER_BYTES + size;
        i += RECORD_WORDS * (1 + eventExtraRecords(size));
      } else {
        this.onString(words, i);
        i += RECORD_WORDS * (1 + payloadRecords(words[i + 1]));
      }
    }
    if (touched) summarizer!.endFrame(timeLo, timeHi);
    return at;
  }
}

/** LEB128 time delta of a frame header (docs/reference/format.md#leb128); returns its end. */
function putLeb128Delta(bytes: Uint8Array, start: number, deltaLo: number, deltaHi: number): number {
  let at = start;
  let lo = deltaLo;
  let hi = deltaHi;
  while (hi !== 0 || lo > 0x7f) {
    bytes[at++] = (lo & 0x7f) | 0x80;
    lo = ((lo >>> 7) | (hi << 25)) >>> 0;
    hi >>>= 7;
  }
  bytes[at++] = lo;
  return at;
}

function copyPayload(
  words: Uint32Array,
  firstWord: number,
  size: number,
  view: DataView,
  start: number,
): void {
  const whole = size >>> 2;
  let at = start;
  for (let k = 0; k < whole; k++, at += 4) view.setUint32(at, words[firstWord + k], true);
  for (let k = whole * 4; k < size; k++, at++)
    view.setUint8(at, words[firstWord + (k >>> 2)] >>> ((k & 3) * 8));
}
