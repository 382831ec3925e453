/**
 * Lane records (docs/reference/bridge-protocol.md#lane-records) -> the plain records of their items, a piece of a message at a time.
 *
 * This is the reference for sdk/kernel/native/unfold.c, which does the same work where the addon is built. A property test compares the two
 * word by word. Without the addon this loop runs: there is no WebAssembly of it, because it would need records and pieces in its memory.
 *
 * What is unfolded may lie in memory that its client changes meanwhile: a word that is checked is fetched once.
 */
import { ADD_LANES_MAX, LANE_SHIFT_MAX } from '../../format/constants.js';
import { EVENT_INLINE_BYTES, RECORD_WORDS, RecordKind, recordLength } from '../../format/record.js';
import { Action } from '../../format/types.js';

/** Words of `struct unfold`, in its order. */
export const Unfold = {
  /** Word of the message that is next; in and out. */
  AT: 0,
  /** Words in the piece. */
  LENGTH: 1,
  /** Items of the open frame that its END does not count, modulo 2^32: those of its lane records less these; in and out. */
  EXTRA: 2,
  /** The record that is not allowed, as it was read. */
  REFUSED: 3,
  WORDS: 7,
} as const;

/** Why a piece ends. */
export enum UnfoldStop {
  /** It is full, or the message at its end. */
  PIECE,
  /** The next record, of LENGTH words with its payload, is too large for any piece: it is to be taken where it is. */
  APART,
  /** The next record is not allowed. */
  REFUSED,
}

/** `piece` has room for one lane record at least, which is MAX_UNFOLDED_WORDS. */
export type UnfoldLanes = (unfold: Uint32Array, words: Uint32Array, piece: Uint32Array) => UnfoldStop;

export const MAX_UNFOLDED_WORDS = ADD_LANES_MAX * RECORD_WORDS;
export const MAX_ID = 0xffff;
export const MAX_SHIFT = LANE_SHIFT_MAX;
const ADD = RecordKind.OP | (Action.ADD << 8);
const SET = RecordKind.OP | (Action.SET << 8);

export const isLaneRecord = (kind: number): boolean =>
  kind >= RecordKind.ADD_LANES && kind <= RecordKind.EVENT_LANES;

/** The number of the highest bit, -1 when there is none. */
export const highestLane = (lo: number, hi: number): number =>
  hi === 0 ? 31 - Math.clz32(lo) : 63 - Math.clz32(hi);

const lowestLane = (bits: number): number => 31 - Math.clz32(bits & -bits);

/** The number of items of a lane record. */
export function countLanes(word0: number, lo: number, hi: number): number {
  return (word0 & 0xff) === RecordKind.ADD_LANES ? countBits(lo) + countBits(hi) : countBits(lanesOf(word0));
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Of SET_LANES and EVENT_LANES. */
const lanesOf = (word0: number): number => (word0 >>> 8) & 0xff;

function isAllowed(word0: number, word1: number, lo: number, hi: number): boolean {
  switch (word0 & 0xff) {
    case RecordKind.ADD_LANES:
      return lanesOf(word0) === 0 && word1 === 0 && (word0 >>> 16) + highestLane(lo, hi) <= MAX_ID;
    case RecordKind.SET_LANES:
      return (word1 & 0xffff) + highestLane(lanesOf(word0), 0) <= MAX_ID;
    default:
      return (word1 & 0xff) <= EVENT_INLINE_BYTES && word1 >>> 8 <= MAX_SHIFT;
  }
}

/** As UnfoldLanes says; whole records of `words` are looked at. */
export function unfoldLanes(unfold: Uint32Array, words: Uint32Array, piece: Uint32Array): UnfoldStop {
  const end = words.length - (words.length % RECORD_WORDS);
  const lastStart = piece.length - MAX_UNFOLDED_WORDS;
  let at = unfold[Unfold.AT];
  let extra = unfold[Unfold.EXTRA] | 0;
  let out = 0;
  let apart = 0;
  let stop = UnfoldStop.PIECE;
  while (at < end && out <= lastStart) {
    // Everything here is an i32: with numbers of other kinds the engine's code is several times as slow.
    const word0 = words[at] | 0;
    let word1 = words[at + 1] | 0;
    const lo = words[at + 2] | 0;
    const hi = words[at + 3] | 0;
    const kind = word0 & 0xff;
    if (isLaneRecord(kind)) {
      if (!isAllowed(word0, word1, lo, hi)) {
        unfold.set([word0, word1, lo, hi], Unfold.REFUSED);
        stop = UnfoldStop.REFUSED;
        break;
      }
      const behind = putItems(piece, out, word0, word1, lo, hi);
      extra = (extra + ((behind - out) >> 2) - 1) | 0;
      out = behind;
      at += RECORD_WORDS;
      continue;
    }
    if (kind === RecordKind.BEGIN) extra = 0;
    else if (kind === RecordKind.END) {
      word1 = (word1 + extra) | 0;
      extra = 0;
    }
    // One that claims to continue after the message gets what is there: the writer says what is wrong with it.
    const length = Math.min(RECORD_WORDS * (1 + payloadRecords(kind, word1)), end - at);
    if (length > piece.length - out) {
      if (out === 0) {
        apart = length;
        stop = UnfoldStop.APART;
      }
      break;
    }
    put(piece, out, word0, word1, lo, hi);
    for (let i = RECORD_WORDS; i < length; i++) piece[out + i] = words[at + i];
    at += length;
    out += length;
  }
  unfold[Unfold.AT] = at;
  unfold[Unfold.LENGTH] = apart || out;
  unfold[Unfold.EXTRA] = extra;
  return stop;
}

/** Records that follow one of this kind and payload size, a u32 that is given as i32. */
function payloadRecords(kind: number, size: number): number {
  switch (kind) {
    case RecordKind.EVENT:
      return size >>> 0 > EVENT_INLINE_BYTES ? recordsOf(size - EVENT_INLINE_BYTES) : 0;
    case RecordKind.STRING:
    case RecordKind.SNAPSHOT:
      return recordsOf(size);
    default:
      return 0;
  }
}

const recordsOf = (bytes: number): number => (bytes >>> 4) + ((bytes & 15) === 0 ? 0 : 1);

function put(piece: Uint32Array, out: number, word0: number, word1: number, lo: number, hi: number): void {
  piece[out] = word0;
  piece[out + 1] = word1;
  piece[out + 2] = lo;
  piece[out + 3] = hi;
}

/** The items of a lane record, the lowest lane first; returns the word after them. */
function putItems(
  piece: Uint32Array,
  out: number,
  word0: number,
  word1: number,
  lo: number,
  hi: number,
): number {
  switch (word0 & 0xff) {
    case RecordKind.ADD_LANES:
      return putAdds(piece, putAdds(piece, out, word0 >>> 16, lo), (word0 >>> 16) + 32, hi);
    case RecordKind.SET_LANES:
      return putSets(piece, out, word0, word1, lo, hi);
    default:
      return putEvents(piece, out, word0, word1, lo, hi);
  }
}

function putAdds(piece: Uint32Array, first: number, storage: number, lanes: number): number {
  let out = first;
  for (let rest = lanes; rest !== 0; rest &= rest - 1) {
    put(piece, out, ADD | ((storage + lowestLane(rest)) << 16), 0, 1, 0);
    out += RECORD_WORDS;
  }
  return out;
}

/** The value of a lane, of eight. */
const laneValue = (lane: number, lo: number, hi: number): number =>
  lane < 4 ? (lo >>> (8 * lane)) & 0xff : (hi >>> (8 * lane - 32)) & 0xff;

function putSets(
  piece: Uint32Array,
  first: number,
  word0: number,
  word1: number,
  lo: number,
  hi: number,
): number {
  const ids = SET | (word0 & 0xffff_0000);
  let out = first;
  for (let rest = lanesOf(word0); rest !== 0; rest &= rest - 1) {
    const lane = lowestLane(rest);
    put(piece, out, ids, word1 + lane, laneValue(lane, lo, hi), 0);
    out += RECORD_WORDS;
  }
  return out;
}

/** What does not belong to the payload is zeros, as in every event. */
function putEvents(
  piece: Uint32Array,
  first: number,
  word0: number,
  word1: number,
  lo: number,
  hi: number,
): number {
  const ids = RecordKind.EVENT | (word0 & 0xffff_0000);
  const size = word1 & 0xff;
  const shift = word1 >>> 8;
  const maskLo = maskOf(size);
  const maskHi = maskOf(size - 4);
  let out = first;
  for (let rest = lanesOf(word0); rest !== 0; rest &= rest - 1) {
    const lane = lowestLane(rest);
    const low = shift < 32 ? lane << shift : 0;
    const high = shift < 32 ? upperHalf(lane, shift) : lane << (shift - 32);
    put(piece, out, ids, size, (laneValue(lane, lo, hi) | low) & maskLo, high & maskHi);
    out += RECORD_WORDS;
  }
  return out;
}

/** Of `lane << shift`, where `shift` is below 32. */
const upperHalf = (lane: number, shift: number): number => (shift === 0 ? 0 : lane >>> (32 - shift));

/** This number of bytes, of the four of a word. */
const maskOf = (bytes: number): number => (bytes >= 4 ? -1 : bytes <= 0 ? 0 : (1 << (8 * bytes)) - 1);

/** Items of OP, EVENT and lane records in `words`; stops at the end, however long the last record claims to be. */
export function countItems(words: Uint32Array): bigint {
  let items = 0;
  for (let at = 0; at < words.length; at += recordLength(words, at)) {
    const word0 = words[at];
    const kind = word0 & 0xff;
    if (kind === RecordKind.OP || kind === RecordKind.EVENT) items++;
    else if (isLaneRecord(kind)) items += countLanes(word0, words[at + 2], words[at + 3]);
  }
  return BigInt(items);
}
