/**
 * The writer's inner loop in TypeScript, for where there is no WebAssembly, and the reference for the compiled one: a run of ordinary frames goes from records to delta blob and shadow state in one pass, without a call, an
 * allocation or a bigint per item.
 *
 * Ordinary means: complete in this message, in order, valid, and no cut due. The pass is optimistic: it encodes and applies while it checks.
 * When a frame turns out not to be ordinary, its encoding is dropped, the state is rebuilt from the segment's checkpoint and the frames
 * before it, and the plain path (FrameChecker, FrameEncoder) takes that frame, including any complaint about it. This is rare
 * by construction: frames near the end of a message are looked through for their end before they are tried. A test holds the two paths
 * against each other item by item.
 */
import {
  EVENT_INLINE_BYTES,
  eventExtraRecords,
  payloadRecords,
  RECORD_WORDS,
  RecordKind,
  recordLength,
} from '../format/record.js';
import { Action } from '../format/types.js';
import type { StorageState } from '../state/storage-state.js';
import type { CutPolicy } from './cut-policy.js';
import { copyPayload, putLeb128Delta, TAG_COMPACT, TAG_EVENT } from './frame-encoder.js';
import { FrameTaker } from './frame-taker.js';
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
const MAX_ITEMS = 0xffff;

// Rows of the table.
const STORAGE_SHIFT = 3;
const SLOTS = 0;
const FIELDS = 1;
const PROPERTIES = 2;
const CELLS = 3;
const STRIDE = 4;
const OCCUPANCY = 5;
const FIELD_TABLE = 6;
const FIELD_SHIFT = 2;
const MASK_LO = 0;
const MASK_HI = 1;
const WATCHED = 2;

/**
 * Where the last frame ends that is complete in `words[at]` up to `words[end]`; `at` is the first record behind another one. It says no
 * more than what is worth trying: records that make no sense do no harm.
 */
function endOfWholeFrames(words: Uint32Array, at: number, end: number): number {
  let whole = at;
  let next = at;
  while (next < end) {
    const isEnd = (words[next] & 0xff) === RecordKind.END;
    next += recordLength(words, next);
    if (next > end) break;
    if (isEnd) whole = next;
  }
  return whole;
}

/** A frame's records take at least as many bytes as its encoding; this covers what the last one writes past its end. */
const SLACK_BYTES = 32;
export class FrameRun extends FrameTaker {
  /** The form the last frame had: the next one is expected to have the same. */
  private compact = true;
  /** Everything the loop looks up, in one array: many arrays would not stay in registers. */
  private readonly table: Int32Array;
  private readonly numStorages: number;
  private readonly numEvents: number;
  private readonly eventsAt: number;

  constructor(
    private readonly state: StorageState,
    private readonly summarizer: Summarizer | null,
    payloadSizes: Uint32Array,
  ) {
    super();
    this.numStorages = state.layout.numStorages;
    this.numEvents = payloadSizes.length;
    const fieldsAt = this.numStorages << STORAGE_SHIFT;
    const fields = fieldTable(state, summarizer);
    this.eventsAt = fieldsAt + fields.length;
    this.table = new Int32Array(this.eventsAt + payloadSizes.length);
    this.table.set(storageTable(state, fieldsAt));
    this.table.set(fields, fieldsAt);
    this.table.set(payloadSizes, this.eventsAt);
  }

  take(
    words: Uint32Array,
    first: number,
    endOfWords: number,
    buffer: SegmentBuffer,
    policy: CutPolicy,
  ): number {
    const { state, summarizer, table, numStorages, numEvents, eventsAt } = this;
    const { cells, mask, occupied } = state;
    let untried = endOfWords - this.margin;
    this.items = 0;
    if (first >= endOfWords) return first;
    buffer.reserve((endOfWords - first) * 4 + SLACK_BYTES);
    const { bytes, view } = buffer;
    const { softLimit, hardLimit, nextLo: gridLo, nextHi: gridHi } = policy;
    let { lastLo, lastHi, ordinal, compact } = this;
    /** End of the last whole frame in the buffer, and in the records. */
    let out = buffer.length;
    let begin = first;
    let active = 0;
    let frames = 0;
    let totalItems = 0;
    let dropped = false;

    run: for (;;) {
      if (begin >= untried) {
        untried = endOfWholeFrames(words, begin, endOfWords);
        if (begin >= untried) break;
      }
      if (words[begin] !== RecordKind.BEGIN) break;
      const timeLo = words[begin + 2];
      const timeHi = words[begin + 3];
      if (timeHi < lastHi || (timeHi === lastHi && timeLo < lastLo)) break;
      const later = timeLo !== lastLo || timeHi !== lastHi;
      if (later && (out >= softLimit || timeHi > gridHi || (timeHi === gridHi && timeLo >= gridLo))) break;
      if (out >= hardLimit) break;

      const deltaLo = (timeLo - lastLo) >>> 0;
      const deltaHi = (timeHi - lastHi - (timeLo < lastLo ? 1 : 0)) >>> 0;
      const countAt = putLeb128Delta(bytes, out, deltaLo, deltaHi);
      let at = countAt + 2;
      let i = begin + RECORD_WORDS;
      let items = 0;
      let wideBits = 0;
      let touched = false;
      dropped = true; // until END proves the frame
      for (;;) {
        if (i >= endOfWords) break run;
        const word0 = words[i];
        const word1 = words[i + 1];
        const lo = words[i + 2];
        const hi = words[i + 3];
        const head = word0 & 0xffff;
        const id = word0 >>> 16;
        if (head === RecordKind.EVENT) {
          if (id >= numEvents || word1 !== table[eventsAt + id]) break run;
          view.setUint32(at, TAG_EVENT | (id << 16), true);
          view.setUint32(at + 4, word1, true);
          view.setUint32(at + 8, lo, true);
          view.setUint32(at + 12, hi, true);
          at += EVENT_HEADER_BYTES + word1;
          items++;
          i += RECORD_WORDS;
          if (word1 > EVENT_INLINE_BYTES) {
            const payload = i;
            i += RECORD_WORDS * eventExtraRecords(word1);
            if (i > endOfWords) break run;
            const rest = word1 - EVENT_INLINE_BYTES;
            copyPayload(words, payload, rest, view, at - rest);
          }
          continue;
        }
        const slot = word1 & 0xffff;
        const field = word1 >>> 16;
        if (head === SET || head === ADD) {
          const s = id << STORAGE_SHIFT;
          if (id >= numStorages || slot >= table[s + SLOTS] || field >= table[s + FIELDS]) break run;
          const f = table[s + FIELD_TABLE] + (field << FIELD_SHIFT);
          const cell = table[s + CELLS] + slot * table[s + STRIDE] + field * 2;
          if (head === SET) {
            cells[cell] = lo & table[f + MASK_LO];
            cells[cell + 1] = hi & table[f + MASK_HI];
          } else {
            const sum = cells[cell] + lo;
            cells[cell] = sum & table[f + MASK_LO];
            cells[cell + 1] = (cells[cell + 1] + hi + (sum >= WORD ? 1 : 0)) & table[f + MASK_HI];
          }
          const byte = table[s + OCCUPANCY] + (slot >>> 3);
          const bit = 1 << (slot & 7);
          const old = mask[byte];
          if ((old & bit) === 0) {
            mask[byte] = old | bit;
            occupied[id]++;
          }
          if (table[f + WATCHED] === head >>> 8) {
            summarizer!.op((head >>> 8) as Action, id, slot, field, lo, hi);
            touched = true;
          }
        } else if (head === RecordKind.END) {
          if (items !== word1 || items > MAX_ITEMS || lo + hi * WORD !== ordinal) break run;
          break;
        } else if (head === CLEAR) {
          if (id >= numStorages || slot >= table[(id << STORAGE_SHIFT) + SLOTS]) break run;
          state.apply(Action.CLEAR, id, slot, 0, 0, 0);
        } else if (head === PROP_SET) {
          if (id >= numStorages || field >= table[(id << STORAGE_SHIFT) + PROPERTIES]) break run;
          state.apply(Action.PROP_SET, id, 0, field, lo, hi);
        } else if (head === RecordKind.STRING) {
          const next = i + RECORD_WORDS * (1 + payloadRecords(word1));
          if (next > endOfWords) break run;
          this.onString(words, i);
          i = next;
          continue;
        } else {
          break run;
        }
        wideBits |= hi | (lo >>> 16) | (id >>> 8);
        if (compact) {
          if (wideBits !== 0) {
            // The first op that needs the wide form: so do all before it (docs/format.md#interleaved-frames).
            compact = false;
            at = this.encodeAgain(words, begin + RECORD_WORDS, i, false, view, countAt + 2);
          } else {
            view.setUint32(at, TAG_COMPACT | (word0 & 0xff00) | (id << 16) | (word1 << 24), true);
            view.setUint32(at + 4, (word1 >>> 8) | (lo << 24), true);
            bytes[at + 8] = lo >>> 8;
            at += COMPACT_BYTES;
          }
        }
        if (!compact) {
          view.setUint32(at, word0, true);
          view.setUint32(at + 4, word1, true);
          view.setUint32(at + 8, lo, true);
          view.setUint32(at + 12, hi, true);
          at += WIDE_BYTES;
        }
        items++;
        i += RECORD_WORDS;
      }
      if (!compact && wideBits === 0) {
        compact = true;
        at = this.encodeAgain(words, begin + RECORD_WORDS, i, true, view, countAt + 2);
      }
      bytes[countAt] = items & 0xff;
      bytes[countAt + 1] = items >>> 8;
      if (touched) summarizer!.endFrame(timeLo, timeHi);
      dropped = false;
      out = at;
      lastLo = timeLo;
      lastHi = timeHi;
      ordinal++;
      frames++;
      if (items !== 0) active++;
      totalItems += items;
      begin = i + RECORD_WORDS;
    }

    buffer.length = out;
    buffer.numFrames += frames;
    buffer.numActiveFrames += active;
    this.lastLo = lastLo;
    this.lastHi = lastHi;
    this.ordinal = ordinal;
    this.items = totalItems;
    this.compact = compact;
    if (dropped) {
      summarizer?.abortFrame();
      this.rollBack(state, buffer);
    }
    return begin;
  }

  /** Encodes the items of a frame so far in the other form; returns the new end. */
  private encodeAgain(
    words: Uint32Array,
    first: number,
    end: number,
    compact: boolean,
    view: DataView,
    start: number,
  ): number {
    let at = start;
    let i = first;
    while (i < end) {
      const word0 = words[i];
      const word1 = words[i + 1];
      const kind = word0 & 0xff;
      if (kind === RecordKind.EVENT) {
        view.setUint32(at, TAG_EVENT | (word0 & 0xffff0000), true);
        view.setUint32(at + 4, word1, true);
        view.setUint32(at + 8, words[i + 2], true);
        view.setUint32(at + 12, words[i + 3], true);
        if (word1 > EVENT_INLINE_BYTES) {
          copyPayload(words, i + RECORD_WORDS, word1 - EVENT_INLINE_BYTES, view, at + 16);
        }
        at += EVENT_HEADER_BYTES + word1;
        i += RECORD_WORDS * (1 + eventExtraRecords(word1));
      } else if (kind === RecordKind.STRING) {
        i += RECORD_WORDS * (1 + payloadRecords(word1));
      } else {
        if (compact) {
          view.setUint32(at, TAG_COMPACT | (word0 & 0xffff00) | (word1 << 24), true);
          view.setUint32(at + 4, (word1 >>> 8) | (words[i + 2] << 24), true);
          view.setUint8(at + 8, words[i + 2] >>> 8);
          at += COMPACT_BYTES;
        } else {
          view.setUint32(at, word0, true);
          view.setUint32(at + 4, word1, true);
          view.setUint32(at + 8, words[i + 2], true);
          view.setUint32(at + 12, words[i + 3], true);
          at += WIDE_BYTES;
        }
        i += RECORD_WORDS;
      }
    }
    return at;
  }
}

/** One row of 8 per storage. Cells are counted in words of `StorageState.cells`. */
function storageTable({ layout }: StorageState, fieldsAt: number): Int32Array {
  const table = new Int32Array(layout.numStorages << STORAGE_SHIFT);
  for (let id = 0; id < layout.numStorages; id++) {
    const row = id << STORAGE_SHIFT;
    table[row + SLOTS] = layout.numSlots[id];
    table[row + FIELDS] = layout.numFields[id];
    table[row + PROPERTIES] = layout.numProperties[id];
    table[row + CELLS] = layout.cellBase[id] * 2;
    table[row + STRIDE] = layout.numFields[id] * 2;
    table[row + OCCUPANCY] = layout.maskBase[id];
    table[row + FIELD_TABLE] = fieldsAt + (layout.fieldBase[id] << FIELD_SHIFT);
  }
  return table;
}

/** One row of 4 per field. Only SET and ADD of slot fields can be watched: properties and CLEAR are no part of any summary. */
function fieldTable({ layout }: StorageState, summarizer: Summarizer | null): Int32Array {
  const table = new Int32Array(layout.sizes.length << FIELD_SHIFT);
  for (let id = 0; id < layout.numStorages; id++) {
    for (let field = 0; field < layout.numFields[id]; field++) {
      const row = (layout.fieldBase[id] + field) << FIELD_SHIFT;
      table[row + MASK_LO] = layout.maskLo[layout.fieldBase[id] + field];
      table[row + MASK_HI] = layout.maskHi[layout.fieldBase[id] + field];
      table[row + WATCHED] = summarizer?.watchedAction(id, field) ?? 0;
    }
  }
  return table;
}
