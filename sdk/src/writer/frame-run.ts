/**
 * The writer's inner loop: a run of ordinary frames goes from records to delta blob and shadow state in one function, without a call, an
 * allocation or a bigint per item.
 *
 * Ordinary means: complete in this message, no strings or snapshots, in order, valid, and no cut due. At the first frame that is not, the
 * run ends and the plain path (FrameChecker, FrameEncoder) takes that frame, including any complaint about it. A test holds the two
 * paths against each other item by item.
 */
import { EVENT_INLINE_BYTES, eventExtraRecords, RECORD_WORDS, RecordKind } from '../format/record.js';
import { Action } from '../format/types.js';
import type { StorageState } from '../state/storage-state.js';
import type { CutPolicy } from './cut-policy.js';
import { copyPayload, TAG_COMPACT, TAG_EVENT, writeFrameHeader } from './frame-encoder.js';
import type { SegmentBuffer } from './segment-buffer.js';
import type { Summarizer } from './summarizer.js';

const SET = RecordKind.OP | (Action.SET << 8);
const ADD = RecordKind.OP | (Action.ADD << 8);
const CLEAR = RecordKind.OP | (Action.CLEAR << 8);
const PROP_SET = RecordKind.OP | (Action.PROP_SET << 8);
const COMPACT_BYTES = 9;
const WIDE_BYTES = 16;
const EVENT_HEADER_BYTES = 8;
const WORD = 2 ** 32;
/** A frame's records take at least as many bytes as its encoding; this covers what the last one writes past its end. */
const SLACK_BYTES = 32;

export class FrameRun {
  /** Time of the last frame, ps as u32 halves; in and out. */
  lastLo = 0;
  lastHi = 0;
  /** Ordinal of the next frame; in and out. */
  ordinal = 0;
  /** Items taken by the last call. */
  items = 0;

  /** Per field of the layout: the action the summarizer wants to see, 0 if none. */
  private readonly watched: Uint8Array;

  constructor(
    private readonly state: StorageState,
    private readonly summarizer: Summarizer | null,
    private readonly payloadSizes: Uint32Array,
  ) {
    this.watched = watchedActions(state, summarizer);
  }

  /**
   * Takes ordinary frames from `words[first]` on; returns the first word it did not take. The segment must have a frame already, so
   * that deltas count from the last frame.
   */
  take(
    words: Uint32Array,
    first: number,
    endOfWords: number,
    buffer: SegmentBuffer,
    policy: CutPolicy,
  ): number {
    const { state, summarizer, payloadSizes, watched } = this;
    const { cells, mask, occupied, layout } = state;
    const { numStorages, numSlots, numFields, numProperties, fieldBase, cellBase, maskBase, maskLo, maskHi } =
      layout;
    buffer.reserve((endOfWords - first) * 4 + SLACK_BYTES);
    const { bytes, view } = buffer;
    let out = buffer.length;
    let { lastLo, lastHi, ordinal } = this;
    const { softLimit, hardLimit, nextLo: gridLo, nextHi: gridHi } = policy;
    let active = 0;
    let frames = 0;
    let totalItems = 0;
    let begin = first;

    run: while (begin < endOfWords) {
      if (words[begin] !== RecordKind.BEGIN) break;
      const timeLo = words[begin + 2];
      const timeHi = words[begin + 3];
      if (timeHi < lastHi || (timeHi === lastHi && timeLo < lastLo)) break;
      const later = timeLo !== lastLo || timeHi !== lastHi;
      if (later && (out >= softLimit || timeHi > gridHi || (timeHi === gridHi && timeLo >= gridLo))) break;
      if (out >= hardLimit) break;

      // First pass: find END, check every id, see whether all ops are compact.
      let i = begin + RECORD_WORDS;
      let items = 0;
      let wideBits = 0;
      for (;;) {
        if (i >= endOfWords) break run;
        const word0 = words[i];
        const head = word0 & 0xffff;
        const id = word0 >>> 16;
        if (head === SET || head === ADD) {
          const word1 = words[i + 1];
          if (id >= numStorages || (word1 & 0xffff) >= numSlots[id] || word1 >>> 16 >= numFields[id])
            break run;
          wideBits |= words[i + 3] | (words[i + 2] >>> 16) | (id >>> 8);
          i += RECORD_WORDS;
        } else if (head === RecordKind.EVENT) {
          const size = words[i + 1];
          if (id >= payloadSizes.length || size !== payloadSizes[id]) break run;
          i += size <= EVENT_INLINE_BYTES ? RECORD_WORDS : RECORD_WORDS * (1 + eventExtraRecords(size));
        } else if (head === RecordKind.END) {
          break;
        } else if (head === CLEAR) {
          if (id >= numStorages || (words[i + 1] & 0xffff) >= numSlots[id]) break run;
          wideBits |= words[i + 3] | (words[i + 2] >>> 16) | (id >>> 8);
          i += RECORD_WORDS;
        } else if (head === PROP_SET) {
          if (id >= numStorages || words[i + 1] >>> 16 >= numProperties[id]) break run;
          wideBits |= words[i + 3] | (words[i + 2] >>> 16) | (id >>> 8);
          i += RECORD_WORDS;
        } else {
          break run;
        }
        items++;
      }
      const end = i;
      if (items !== words[end + 1] || items > 0xffff) break;
      if (words[end + 2] + words[end + 3] * WORD !== ordinal) break;

      // Second pass: encode and apply.
      const deltaLo = (timeLo - lastLo) >>> 0;
      const deltaHi = (timeHi - lastHi - (timeLo < lastLo ? 1 : 0)) >>> 0;
      out = writeFrameHeader(bytes, out, deltaLo, deltaHi, items);
      const compact = wideBits === 0;
      let touched = false;
      for (i = begin + RECORD_WORDS; i < end; ) {
        const word0 = words[i];
        const word1 = words[i + 1];
        const lo = words[i + 2];
        const hi = words[i + 3];
        const head = word0 & 0xffff;
        const id = word0 >>> 16;
        if (head === RecordKind.EVENT) {
          view.setUint32(out, TAG_EVENT | (id << 16), true);
          view.setUint32(out + 4, word1, true);
          view.setUint32(out + 8, lo, true);
          view.setUint32(out + 12, hi, true);
          if (word1 > EVENT_INLINE_BYTES) {
            copyPayload(words, i + RECORD_WORDS, word1 - EVENT_INLINE_BYTES, view, out + 16);
            i += RECORD_WORDS * eventExtraRecords(word1);
          }
          out += EVENT_HEADER_BYTES + word1;
          i += RECORD_WORDS;
          continue;
        }
        if (compact) {
          view.setUint32(out, TAG_COMPACT | (word0 & 0xff00) | (id << 16) | (word1 << 24), true);
          view.setUint32(out + 4, (word1 >>> 8) | (lo << 24), true);
          bytes[out + 8] = lo >>> 8;
          out += COMPACT_BYTES;
        } else {
          view.setUint32(out, word0, true);
          view.setUint32(out + 4, word1, true);
          view.setUint32(out + 8, lo, true);
          view.setUint32(out + 12, hi, true);
          out += WIDE_BYTES;
        }
        const slot = word1 & 0xffff;
        const field = word1 >>> 16;
        if (head === SET || head === ADD) {
          const f = fieldBase[id] + field;
          const cell = (cellBase[id] + slot * numFields[id] + field) * 2;
          if (head === SET) {
            cells[cell] = lo & maskLo[f];
            cells[cell + 1] = hi & maskHi[f];
          } else {
            const sum = cells[cell] + lo;
            cells[cell] = sum & maskLo[f];
            cells[cell + 1] = (cells[cell + 1] + hi + (sum >= WORD ? 1 : 0)) & maskHi[f];
          }
          const byte = maskBase[id] + (slot >>> 3);
          const bit = 1 << (slot & 7);
          const old = mask[byte];
          if ((old & bit) === 0) {
            mask[byte] = old | bit;
            occupied[id]++;
          }
          if (watched[f] === head >>> 8) {
            summarizer!.op((head >>> 8) as Action, id, slot, field, lo, hi);
            touched = true;
          }
        } else {
          state.apply(head >>> 8, id, slot, field, lo, hi);
        }
        i += RECORD_WORDS;
      }
      if (touched) summarizer!.endFrame(timeLo, timeHi);
      lastLo = timeLo;
      lastHi = timeHi;
      ordinal++;
      frames++;
      if (items !== 0) active++;
      totalItems += items;
      begin = end + RECORD_WORDS;
    }

    buffer.length = out;
    buffer.numFrames += frames;
    buffer.numActiveFrames += active;
    this.lastLo = lastLo;
    this.lastHi = lastHi;
    this.ordinal = ordinal;
    this.items = totalItems;
    return begin;
  }
}

/** Only SET and ADD of slot fields can be watched: properties and CLEAR are no part of any summary. */
function watchedActions(state: StorageState, summarizer: Summarizer | null): Uint8Array {
  const { layout } = state;
  const actions = new Uint8Array(layout.sizes.length);
  if (summarizer === null) return actions;
  for (let id = 0; id < layout.numStorages; id++) {
    for (let field = 0; field < layout.numFields[id]; field++) {
      actions[layout.fieldBase[id] + field] = summarizer.watchedAction(id, field);
    }
  }
  return actions;
}
