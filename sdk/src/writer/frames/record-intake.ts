/**
 * Takes a stream of records (docs/reference/bridge-protocol.md#records) into the open segment.
 *
 *   records -> FrameChecker -> FrameEncoder -> SegmentBuffer
 *
 * FrameChecker and FrameEncoder are the plain path, the reference for what a frame's bytes are. FrameKernel is the fast path: it does the
 * same work for runs of ordinary frames, and leaves all others to the plain path.
 */
import { UscopeError } from '../../base/errors.js';
import { payloadRecords, RECORD_WORDS, RecordKind, recordLength } from '../../format/record.js';
import type { StorageState } from '../../state/storage-state.js';
import { CarryBuffer } from './carry-buffer.js';
import { checkStringLength, type FrameChecker, recordError } from './frame-checker.js';
import { FrameEncoder } from './frame-encoder.js';
import type { FrameKernel } from './frame-kernel.js';
import type { SegmentCutter } from './segment-cutter.js';
import { type StreamPosition, timeOf } from './stream-position.js';
import type { StringLog } from './string-log.js';
import type { Summarizer } from './summarizer.js';

const WORD = 2 ** 32;

export class RecordIntake {
  private readonly encoder: FrameEncoder;
  private readonly carry = new CarryBuffer();
  /** After a restart, until a frame is taken: records may belong to frames that were taken before. */
  private resyncing = false;
  /** The fast path has taken the next frame back. */
  private isPlainNext = false;

  /** @param kernel the fast path; null: the plain one takes everything */
  constructor(
    private readonly state: StorageState,
    summarizer: Summarizer | null,
    private readonly checker: FrameChecker,
    private readonly kernel: FrameKernel | null,
    private readonly cutter: SegmentCutter,
    private readonly position: StreamPosition,
    private readonly strings: StringLog,
  ) {
    this.encoder = new FrameEncoder(state, summarizer);
    this.encoder.onString = (words, record) => strings.take(words, record);
    if (kernel) kernel.onString = this.encoder.onString;
  }

  /**
   * Takes whole records from `words[first]` up to `words[end]`, but returns after `maxRuns` runs of frames, each of which cuts one segment
   * at most, and where a large state is to be changed or saved before the next frame, with the word to continue at. A frame may continue in the next
   * call; a record and its payload may not.
   * @throws UscopeError OP_*, BRIDGE_RECORD, WRITER_OVERRUN, and what the memory's allowance throws
   */
  take(words: Uint32Array, first: number, end: number, maxRuns: number): number {
    const { cutter } = this;
    const { policy } = cutter;
    if (cutter.mustWait()) return first;
    policy.clientBytes += (end - first) * 4;
    let at = this.carry.isEmpty ? first : this.continueFrame(words, first, end);
    for (let runs = 0; at < end && runs < maxRuns && !cutter.isBusy; runs++) {
      at = this.takeRun(words, at, end);
      if (at < end && !cutter.isBusy) at = this.takeRecord(words, at, end);
    }
    policy.clientBytes -= (end - at) * 4; // they come again
    return at;
  }

  /** The client starts again from a durable frame: an unfinished frame is dropped, and the rest of one already taken may come first. */
  restart(): void {
    this.carry.clear();
    this.cutter.snapshots.clear();
    this.isPlainNext = false;
    this.resyncing = true;
  }

  /** Ordinary frames by the fast path, all at once; a segment's first frame and anything out of the ordinary are left to `takeRecord`. */
  private takeRun(words: Uint32Array, at: number, end: number): number {
    const { kernel, cutter, position } = this;
    if (!kernel || cutter.open.numFrames === 0 || !cutter.snapshots.isEmpty) return at;
    if (this.resyncing || this.isPlainNext) return at;
    kernel.lastLo = position.lastLo;
    kernel.lastHi = position.lastHi;
    kernel.ordinal = position.frames;
    const next = kernel.take(words, at, end, cutter.open, cutter.policy);
    position.lastLo = kernel.lastLo;
    position.lastHi = kernel.lastHi;
    position.frames = kernel.ordinal;
    position.items += kernel.items;
    if (kernel.rebuilding) {
      cutter.change(kernel.rebuilding);
      kernel.rebuilding = null;
      this.isPlainNext = true;
    }
    return next;
  }

  private takeRecord(words: Uint32Array, at: number, end: number): number {
    this.isPlainNext = false;
    const kind = words[at] & 0xff;
    if (kind === RecordKind.BEGIN) {
      this.checker.scan(words, at + RECORD_WORDS, end);
      if (this.checker.endWord < 0) {
        this.carry.append(words, at, end);
        return end;
      }
      return this.takeFrame(words, at) ? this.checker.endWord + RECORD_WORDS : at;
    }
    if (kind === RecordKind.STRING) {
      checkStringLength(words[at + 1]);
      const next = at + RECORD_WORDS * (1 + payloadRecords(words[at + 1]));
      if (next > end) throw recordError('a string does not end inside its message');
      this.strings.take(words, at);
      return next;
    }
    if (kind === RecordKind.SNAPSHOT) return at + this.cutter.snapshots.take(words, at, end, this.state);
    if (this.resyncing) return this.skipTailRecord(words, at, end);
    throw recordError(`record kind 0x${kind.toString(16)} outside a frame`);
  }

  private skipTailRecord(words: Uint32Array, at: number, end: number): number {
    const next = at + recordLength(words, at);
    if (next > end) throw recordError('a record and its payload do not end inside their message');
    return next;
  }

  /** The rest of a frame that began in an earlier call: gathered, then treated as one. */
  private continueFrame(words: Uint32Array, first: number, end: number): number {
    let at = first;
    while (at < end) {
      const isEnd = (words[at] & 0xff) === RecordKind.END;
      at += recordLength(words, at);
      if (!isEnd) continue;
      if (at > end) break;
      this.carry.append(words, first, at);
      if (!this.takeCarried(this.carry.words, this.carry.length)) {
        this.carry.drop(at - first);
        return first;
      }
      this.carry.clear();
      return at;
    }
    if (at > end) throw recordError('a record and its payload do not end inside their message');
    this.carry.append(words, first, end);
    return end;
  }

  /** False: not now. */
  private takeCarried(frame: Uint32Array, length: number): boolean {
    // A window may be where the message is that the frame continues in.
    const copied = (this.kernel?.windows.length ?? 0) > 0;
    if (!copied && this.takeRun(frame, 0, length) === length) return true;
    if (this.cutter.isBusy) return false;
    this.checker.scan(frame, RECORD_WORDS, length);
    return this.takeFrame(frame, 0);
  }

  /** A complete, checked frame whose BEGIN is at `begin`. False: the state must be saved before, and will be. */
  private takeFrame(words: Uint32Array, begin: number): boolean {
    const { position, checker } = this;
    this.isPlainNext = false;
    const { endWord } = checker;
    const ordinal = words[endWord + 2] + words[endWord + 3] * WORD;
    if (ordinal < position.frames) {
      this.skipFrame(words, begin + RECORD_WORDS, endWord);
      return true;
    }
    if (ordinal > position.frames) throw recordError(`frame ${ordinal} follows frame ${position.frames - 1}`);
    const lo = words[begin + 2];
    const hi = words[begin + 3];
    if (position.isEarlier(lo, hi)) {
      throw new UscopeError(
        'OP_TIME',
        `frame ${ordinal} at ${timeOf(lo, hi)} ps is earlier than ${position.lastTimePs} ps`,
      );
    }
    this.cutter.beforeFrame(lo, hi);
    if (this.cutter.mustWait()) return false;
    this.encode(words, begin + RECORD_WORDS, lo, hi);
    position.advance(lo, hi, checker.numItems);
    this.resyncing = false;
    return true;
  }

  /** A segment's first frame counts from the segment's start (docs/reference/format.md#interleaved-frames), every other from the frame before. */
  private encode(words: Uint32Array, first: number, lo: number, hi: number): void {
    const { position } = this;
    const { open } = this.cutter;
    const isFirst = open.numFrames === 0;
    const baseLo = isFirst ? open.startLo : position.lastLo;
    const baseHi = isFirst ? open.startHi : position.lastHi;
    const deltaLo = (lo - baseLo) >>> 0;
    const deltaHi = (hi - baseHi - (lo < baseLo ? 1 : 0)) >>> 0;
    this.encoder.encode(words, first, this.checker, deltaLo, deltaHi, lo, hi, open);
  }

  /** A frame that was taken before; only strings that are new (they are not, unless the file lost them) are of interest. */
  private skipFrame(words: Uint32Array, first: number, end: number): void {
    this.cutter.snapshots.clear();
    if (!this.checker.hasStrings) return;
    for (let at = first; at < end; at += recordLength(words, at)) {
      if ((words[at] & 0xff) === RecordKind.STRING) this.strings.take(words, at);
    }
  }
}
