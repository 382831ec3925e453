/**
 * The writer: a stream of records (docs/bridge-protocol.md#records) becomes a committed µScope file. Where segments end and when they
 * count as durable is decided here, by the rules of docs/durability.md.
 *
 *   records -> FrameChecker -> FrameEncoder -> SegmentBuffer -> (cut) -> Compressor -> Committer -> SegmentStore
 *
 * FrameChecker and FrameEncoder are the plain path, the reference for what a frame's bytes are. FrameKernel is the fast path: it does the
 * same work for runs of ordinary frames, and leaves all others to the plain path.
 */
import { rm } from 'node:fs/promises';
import { UscopeError } from '../base/errors.js';
import { payloadRecords, RECORD_WORDS, RecordKind, recordLength } from '../format/record.js';
import type { SessionInfo } from '../format/session-chunk.js';
import type { Schema } from '../format/types.js';
import { stateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import { Committer, type CutSegment } from './committer.js';
import { forgetMemory } from './compression/compression-pool.js';
import { createCompressor } from './compression/compressor.js';
import type { AcceptedStats, SessionEnd, TraceStats, WriterOptions } from './contract/options.js';
import { FileStore } from './file/file-store.js';
import { SegmentList } from './file/segment-list.js';
import type { SegmentStore } from './file/segment-store.js';
import { checkpointInterval, createTraceFile } from './file/trace-file.js';
import { CarryBuffer } from './frames/carry-buffer.js';
import {
  CutPolicy,
  DEFAULT_CREDIT_BYTES,
  DEFAULT_HARD_BYTES,
  DEFAULT_SOFT_BYTES,
} from './frames/cut-policy.js';
import { EMPTY_SUMMARY } from './frames/empty-summary.js';
import { checkStringLength, FrameChecker, recordError } from './frames/frame-checker.js';
import { FrameEncoder } from './frames/frame-encoder.js';
import { createFrameKernel, type FrameKernel } from './frames/frame-kernel.js';
import { checkpointBytes, granted } from './frames/memory-need.js';
import { LARGE_CHECKPOINT_BYTES, SegmentBuffer } from './frames/segment-buffer.js';
import { SnapshotCollector } from './frames/snapshots.js';
import { StringLog } from './frames/string-log.js';
import type { Summarizer } from './frames/summarizer.js';
import { type MemoryAllowance, WriterMemory } from './frames/writer-memory.js';
import { expandSmall } from './small.js';

/** A producer that never waits is stopped here, long before memory is gone. */
const OVERRUN_BYTES = 384 * 1024 * 1024;
const DEFAULT_MAX_DELAY_MS = 1000;
const WORD = 2 ** 32;

/** What a writer continues from: nothing, for a new file, or what was found durable in an unfinalized one. */
export interface WriterStart {
  readonly store: SegmentStore;
  /** As it was when the writer started. */
  readonly session: SessionInfo;
  readonly state: StorageState;
  readonly summarizer: Summarizer | null;
  readonly nextFrame: number;
  readonly nextString: number;
  readonly items: number;
  /** Time of the last frame in ps; null: none yet. */
  readonly lastTimePs: bigint | null;
  /** What of the process's memory is the writer's; without one, as much as it needs. */
  readonly allowance?: MemoryAllowance | null;
}

/** How far the trace is durable. */
interface Durable extends Pick<CutSegment, 'nextFrame' | 'nextString' | 'items' | 'lastTimePs'> {
  readonly segments: number;
}

interface Counted {
  readonly lost: bigint;
  readonly rejected: bigint;
  readonly bytes: number;
}

export class RecordWriter {
  /**
   * Creates the file; header and preamble are durable when it resolves.
   * @throws UscopeError WRITER_*, SCHEMA_LIMIT, and what `options.budget` throws
   */
  static async create(asked: WriterOptions): Promise<RecordWriter> {
    const options = expandSmall(asked);
    const layout = stateLayout(options.schema, options.maxStateBytes);
    const allowance = await granted(layout, options.budget);
    const state = new StorageState(layout);
    if (options.start) state.loadCheckpoint(options.start.checkpoint);
    new FrameChecker(layout); // a schema that cannot be written must fail before there is a file
    checkpointInterval(options);
    createCompressor(options.compression ?? 'lz4', options.compressionLevel);
    const trace = await createTraceFile(options);
    try {
      return new RecordWriter(options, {
        store: new FileStore(trace, new SegmentList(), trace.preambleEnd),
        session: trace.session,
        state,
        summarizer: options.summarizer?.(options.schema) ?? null,
        nextFrame: 0,
        nextString: 0,
        items: 0,
        lastTimePs: null,
        allowance,
      });
    } catch (error) {
      await trace.file.close();
      await rm(options.path, { force: true }); // nothing is in it
      throw error;
    }
  }

  /** The state is so large that `pushSome` may return to have it saved. */
  readonly isLarge: boolean;
  private readonly session: SessionInfo;
  private readonly state: StorageState;
  private readonly store: SegmentStore;
  private readonly summarizer: Summarizer | null;
  private readonly checker: FrameChecker;
  private readonly encoder: FrameEncoder;
  /** The fast path; null: the plain one takes everything. Public for tests, which compare the two. */
  readonly kernel: FrameKernel | null;
  private readonly policy: CutPolicy;
  private readonly committer: Committer;
  private readonly compressor;
  private readonly strings: StringLog;
  private readonly snapshots = new SnapshotCollector();
  private readonly carry = new CarryBuffer();
  private readonly freeBuffers: SegmentBuffer[] = [];
  private readonly timer: NodeJS.Timeout | null;
  private readonly memory: WriterMemory | null;
  private open: SegmentBuffer;

  private frameCount: number;
  private itemCount: number;
  private durable: Durable;
  private lastLo = 0;
  private lastHi = 0;
  private hasLast = false;
  /** The open segment was cut behind the last frame; where the next one starts is known when its first frame comes. */
  private startOpen = false;
  private cutAt = performance.now();
  private pushedSinceTick = false;
  /** Whoever pushes goes on when the state has been saved. */
  private mayPause = false;
  private saving: Promise<void> | null = null;
  /** After a restart, until a frame is taken: records may belong to frames that were taken before. */
  private resyncing = false;
  private closing: Promise<TraceStats> | null = null;
  private readonly onAbort = (): void => this.discard(this.options.signal?.reason);
  private final: (Required<Pick<SessionEnd, 'status' | 'completed'>> & Counted) | null = null;

  /** What the writer was made of; for a resumed trace the file's own schema, interval and compression. */
  get schema(): Schema {
    return this.state.layout.schema;
  }

  /** Use `create` or `resumeTrace`. */
  constructor(
    private readonly options: WriterOptions,
    start: WriterStart,
  ) {
    this.session = start.session;
    this.state = start.state;
    this.isLarge = checkpointBytes(start.state.layout) > LARGE_CHECKPOINT_BYTES;
    this.store = start.store;
    this.checker = new FrameChecker(start.state.layout);
    const { summarizer, state } = start;
    const { payloadSizes } = this.checker;
    this.memory = WriterMemory.create(start.allowance ?? null);
    try {
      this.open = new SegmentBuffer(this.memory);
      this.kernel =
        this.memory && options.kernel !== 'typescript'
          ? createFrameKernel(this.memory, state, summarizer, payloadSizes, options.kernel !== 'wasm')
          : null;
    } catch (error) {
      this.memory?.abandon();
      throw error;
    }
    this.summarizer = this.kernel ? this.kernel.summarizer : summarizer;
    this.encoder = new FrameEncoder(state, this.summarizer);
    this.encoder.onString = (words, record) => this.strings.take(words, record);
    if (this.kernel) this.kernel.onString = this.encoder.onString;
    this.strings = new StringLog(start.nextString);
    this.policy = new CutPolicy({
      intervalPs: checkpointInterval(options),
      softBytes: options.softCutBytes ?? DEFAULT_SOFT_BYTES,
      hardBytes: options.hardCutBytes ?? DEFAULT_HARD_BYTES,
      creditBytes: options.creditBytes ?? DEFAULT_CREDIT_BYTES,
    });
    const { compression = 'lz4', compressionLevel } = options;
    this.compressor = createCompressor(compression, compressionLevel, this.memory);
    this.committer = new Committer(
      this.store,
      this.compressor,
      {
        onDurable: (last) => this.madeDurable(last),
        onStall: (error) => options.onStall?.(error),
        onRecycle: (buffer) => this.freeBuffers.push(buffer),
        onCommitted: (checkpoint) => this.memory?.giveBack(checkpoint),
      },
      options.onFull ?? 'wait',
    );
    options.signal?.addEventListener('abort', this.onAbort);
    if (options.signal?.aborted) this.onAbort();
    this.frameCount = start.nextFrame;
    this.itemCount = start.items;
    this.durable = {
      nextFrame: BigInt(start.nextFrame),
      nextString: BigInt(start.nextString),
      items: start.items,
      lastTimePs: start.lastTimePs ?? 0n,
      segments: start.store.numSegments,
    };
    try {
      this.startSegments(start.lastTimePs);
    } catch (error) {
      this.memory?.abandon();
      throw error;
    }
    const delay = options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS;
    this.timer = delay > 0 ? setInterval(() => this.tick(delay), delay / 4).unref() : null;
  }

  private startSegments(lastTimePs: bigint | null): void {
    const startPs = this.options.start?.timePs ?? 0n;
    this.open.start(startPs, this.state);
    this.saveInTurns();
    this.policy.restart(startPs);
    const notBefore = lastTimePs ?? startPs;
    this.lastLo = Number(notBefore & 0xffff_ffffn);
    this.lastHi = Number(notBefore >> 32n);
    if (lastTimePs === null) return;
    this.hasLast = true;
    this.startOpen = true;
  }

  /** Ordinal the next frame must have. */
  get nextFrame(): bigint {
    return BigInt(this.frameCount);
  }

  /** Index the next string must have. */
  get nextString(): bigint {
    return BigInt(this.strings.next);
  }

  /** Frames below this ordinal are durable. */
  get durableFrames(): bigint {
    return this.durable.nextFrame;
  }

  /**
   * Memory for records, of one message each: what is put here, and pushed as words of the same buffer, is not copied again. Not to be used
   * any more when `close` is called. Empty when there is nothing to gain by it.
   */
  get windows(): readonly Uint8Array[] {
    return this.closing ? [] : (this.kernel?.windows ?? []);
  }

  get path(): string {
    return this.store.path;
  }

  get stats(): TraceStats {
    const { durable } = this;
    return {
      path: this.path,
      status: this.final?.status ?? this.session.status,
      frames: durable.nextFrame,
      items: BigInt(durable.items),
      strings: durable.nextString,
      segments: durable.segments,
      bytes: BigInt(this.final?.bytes ?? this.store.bytes),
      totalTimePs: durable.lastTimePs,
      accepted: this.accepted,
      completed: this.final?.completed,
      rejected: this.final?.rejected ?? 0n,
      lost: this.final?.lost ?? 0n,
    };
  }

  get accepted(): AcceptedStats {
    return {
      frames: this.nextFrame,
      items: BigInt(this.itemCount),
      totalTimePs: this.hasLast ? this.lastTimePs() : 0n,
    };
  }

  /**
   * Takes whole records from `words[first]` up to `words[end]`. A frame may go on in the next call; a record and its payload may not.
   * Frames and strings that were taken before (a client resends after a lost connection) are skipped.
   *
   * On an error nothing of the offending frame is in the file, everything before it is; the writer takes no further records but can be
   * closed.
   * @throws UscopeError OP_* (schema violated), BRIDGE_RECORD (record grammar violated), or the failure of an earlier commit.
   */
  push(words: Uint32Array, first = 0, end = words.length): void {
    this.take(words, first, end, Number.POSITIVE_INFINITY, false);
  }

  /**
   * The same, but returns with the word to go on at: behind `maxRuns` runs of frames, each of which cuts one segment at most, and where a large
   * state is to be saved before the next frame, which `ready` waits for.
   */
  pushSome(words: Uint32Array, first: number, end: number, maxRuns = Number.POSITIVE_INFINITY): number {
    return this.take(words, first, end, maxRuns, true);
  }

  private take(words: Uint32Array, first: number, end: number, maxRuns: number, mayPause: boolean): number {
    if (this.committer.failure) throw this.committer.failure;
    if (this.closing) throw new UscopeError('WRITER_CLOSED', 'the writer is closed', { file: this.path });
    if (this.committer.pendingBytes > OVERRUN_BYTES) {
      throw new UscopeError('WRITER_OVERRUN', 'too much waits for the disk; await ready() when told to', {
        file: this.path,
      });
    }
    this.pushedSinceTick = true;
    this.mayPause = mayPause;
    if (this.isSaving()) return first;
    this.policy.clientBytes += (end - first) * 4;
    let at = this.carry.isEmpty ? first : this.continueFrame(words, first, end);
    for (let runs = 0; at < end && runs < maxRuns && !this.open.isSaving; runs++) {
      at = this.takeRun(words, at, end);
      if (at < end) at = this.takeRecord(words, at, end);
    }
    this.policy.clientBytes -= (end - at) * 4; // they come again
    return at;
  }

  /** The state is being saved, and whoever pushes may wait for it; else it is saved now. */
  private isSaving(): boolean {
    if (this.open.isSaving && !this.mayPause) this.open.saveAll();
    return this.open.isSaving;
  }

  /** Saves the state of the open segment, as far as that was left to be done, in the turns that others leave. */
  private saveInTurns(): void {
    if (this.open.isSaving) this.saving ??= this.saveOpen();
  }

  private async saveOpen(): Promise<void> {
    while (this.open.isSaving) {
      await new Promise((resolve) => setImmediate(resolve));
      this.open.saveSome();
    }
    this.saving = null;
  }

  /** The client starts again from a durable frame: an unfinished frame is dropped, and the rest of one already taken may come first. */
  restartStream(): void {
    this.carry.clear();
    this.snapshots.clear();
    this.resyncing = true;
  }

  /** Whether a frame at this time (ps) would start a new segment on the checkpoint grid: the moment to offer snapshots. */
  cutDue(timePs: bigint): boolean {
    const lo = Number(timePs & 0xffff_ffffn);
    const hi = Number(timePs >> 32n);
    return this.isLater(lo, hi) && this.policy.gridReached(lo, hi);
  }

  /** True when `ready` would wait. */
  get congested(): boolean {
    return this.committer.isBehind || this.open.isSaving || this.committer.failure !== null;
  }

  /** Resolves when more records may be pushed: bounds the memory of segments that wait for the disk. @throws the writer's failure */
  async ready(): Promise<void> {
    if (this.committer.isBehind) await this.committer.caughtUp();
    if (this.saving) await this.saving;
    if (this.committer.failure) throw this.committer.failure;
  }

  /** Ends the open segment behind its last frame, if it has any, without waiting for its commit. */
  endSegment(): void {
    this.cutBehindLast();
  }

  /** Commits all complete frames; resolves when they are durable. */
  async flush(): Promise<void> {
    this.cutBehindLast();
    await this.committer.drain();
  }

  /**
   * Commits what is left (an incomplete frame is dropped), writes the tail sections and marks the file complete. Further calls
   * give the same answer.
   */
  close(end: SessionEnd): Promise<TraceStats> {
    this.closing ??= this.finish(end);
    return this.closing;
  }

  /** Stops waiting for disk space: what cannot be written fails now. */
  abortWaiting(): void {
    this.committer.stop();
  }

  /** Gives the trace up: what waits is not written. `close` lets go of the file, and fails. */
  discard(
    why: Error = new UscopeError('WRITER_CLOSED', 'the trace was given up', { file: this.path }),
  ): void {
    this.committer.discard(why);
  }

  // -- records

  /** Ordinary frames by the fast path, all at once; a segment's first frame and anything out of the ordinary are left to `takeRecord`. */
  private takeRun(words: Uint32Array, at: number, end: number): number {
    const { kernel } = this;
    if (!kernel || this.open.numFrames === 0 || !this.snapshots.isEmpty || this.resyncing) return at;
    kernel.lastLo = this.lastLo;
    kernel.lastHi = this.lastHi;
    kernel.ordinal = this.frameCount;
    const next = kernel.take(words, at, end, this.open, this.policy);
    this.lastLo = kernel.lastLo;
    this.lastHi = kernel.lastHi;
    this.frameCount = kernel.ordinal;
    this.itemCount += kernel.items;
    return next;
  }

  private takeRecord(words: Uint32Array, at: number, end: number): number {
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
    if (kind === RecordKind.SNAPSHOT) return at + this.snapshots.take(words, at, end, this.state);
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
    // A window may be where the message is that the frame goes on in.
    const copied = (this.kernel?.windows.length ?? 0) > 0;
    if (!copied && this.takeRun(frame, 0, length) === length) return true;
    this.checker.scan(frame, RECORD_WORDS, length);
    return this.takeFrame(frame, 0);
  }

  /** A complete, checked frame whose BEGIN is at `begin`. False: the state must be saved before, and will be. */
  private takeFrame(words: Uint32Array, begin: number): boolean {
    const { endWord } = this.checker;
    const ordinal = words[endWord + 2] + words[endWord + 3] * WORD;
    if (ordinal < this.frameCount) {
      this.skipFrame(words, begin + RECORD_WORDS, endWord);
      return true;
    }
    if (ordinal > this.frameCount) throw recordError(`frame ${ordinal} follows frame ${this.frameCount - 1}`);
    const lo = words[begin + 2];
    const hi = words[begin + 3];
    if (hi < this.lastHi || (hi === this.lastHi && lo < this.lastLo)) {
      throw new UscopeError(
        'OP_TIME',
        `frame ${ordinal} at ${time(lo, hi)} ps is earlier than ${this.lastTimePs()} ps`,
      );
    }
    this.beforeFrame(lo, hi);
    if (this.isSaving()) return false;
    // A segment's first frame counts from the segment's start (docs/format.md#interleaved-frames), every other from the frame before.
    const first = this.open.numFrames === 0;
    const baseLo = first ? this.open.startLo : this.lastLo;
    const baseHi = first ? this.open.startHi : this.lastHi;
    const deltaLo = (lo - baseLo) >>> 0;
    const deltaHi = (hi - baseHi - (lo < baseLo ? 1 : 0)) >>> 0;
    this.encoder.encode(words, begin + RECORD_WORDS, this.checker, deltaLo, deltaHi, lo, hi, this.open);
    this.lastLo = lo;
    this.lastHi = hi;
    this.hasLast = true;
    this.itemCount += this.checker.numItems;
    this.frameCount++;
    this.resyncing = false;
    return true;
  }

  /** A frame that was taken before; only strings that are new (they are not, unless the file lost them) are of interest. */
  private skipFrame(words: Uint32Array, first: number, end: number): void {
    this.snapshots.clear();
    if (!this.checker.hasStrings) return;
    for (let at = first; at < end; at += recordLength(words, at)) {
      if ((words[at] & 0xff) === RecordKind.STRING) this.strings.take(words, at);
    }
  }

  // -- cuts

  /** Cuts before a frame at this time if the rules say so, and puts waiting snapshots into the new segment's checkpoint. */
  private beforeFrame(lo: number, hi: number): void {
    if (this.startOpen) this.fixStart(lo, hi);
    const { policy, open } = this;
    const later = this.isLater(lo, hi);
    if (!this.snapshots.isEmpty) {
      this.cutAtSnapshot(lo, hi, later);
    } else if (later && (policy.gridReached(lo, hi) || open.length >= policy.softLimit)) {
      if (open.numFrames > 0) this.cut(time(lo, hi), time(lo, hi));
      else policy.restart(time(lo, hi)); // nothing to commit: the segment goes on, only the grid moves
    } else if (open.length >= policy.hardLimit && open.numFrames > 0) {
      this.cutBehindLast();
      this.fixStart(lo, hi);
    }
  }

  private cutAtSnapshot(lo: number, hi: number, later: boolean): void {
    const now = time(lo, hi);
    if (later && now > this.open.timeStartPs) {
      this.cut(now, now);
    } else if (this.open.numFrames > 0) {
      this.cutBehindLast();
      this.fixStart(lo, hi);
    }
    for (const storageId of this.snapshots.applyTo(this.state)) this.open.snapshots.add(storageId);
    this.open.replaceCheckpoint(this.state);
    this.saveInTurns();
  }

  private isLater(lo: number, hi: number): boolean {
    return !this.hasLast || hi > this.lastHi || (hi === this.lastHi && lo > this.lastLo);
  }

  private lastTimePs(): bigint {
    return time(this.lastLo, this.lastHi);
  }

  /** Ends the open segment at `endPs` (exclusive) and starts the next one. Without the memory for that one, nothing has changed. */
  private cut(endPs: bigint, nextStartPs: bigint): void {
    const next = this.freeBuffers.pop() ?? new SegmentBuffer(this.memory, this.open.bytes.length);
    try {
      next.start(nextStartPs, this.state);
    } catch (error) {
      this.freeBuffers.push(next);
      throw error;
    }
    this.enqueueOpen(endPs);
    this.open = next;
    this.saveInTurns();
    this.policy.restart(nextStartPs);
    this.cutAt = performance.now();
  }

  private enqueueOpen(endPs: bigint): void {
    this.committer.enqueue({
      buffer: this.open,
      timeEndPs: endPs,
      nextFrame: this.nextFrame,
      nextString: this.nextString,
      items: this.itemCount,
      lastTimePs: this.hasLast ? this.lastTimePs() : 0n,
      strings: this.strings.drain(),
      note: this.store.atCut?.(this.itemCount),
    });
  }

  /** No segment follows: nothing is taken for one, so that a writer without memory can still save what it has. */
  private cutForGood(): void {
    if (this.open.numFrames === 0 || this.isCutForGood) return;
    this.isCutForGood = true;
    this.enqueueOpen(this.lastTimePs() + 1n);
  }

  /** Ends the open segment right behind its last frame. */
  private cutBehindLast(): void {
    if (this.open.numFrames === 0) return;
    const end = this.lastTimePs() + 1n;
    this.cut(end, end);
    this.startOpen = true;
  }

  /** After a cut behind the last frame: the next segment starts there too if its first frame has the same time, else behind it. */
  private fixStart(lo: number, hi: number): void {
    this.startOpen = false;
    const last = this.lastTimePs();
    this.open.moveStart(time(lo, hi) > last ? last + 1n : last);
    this.policy.restart(this.open.timeStartPs);
  }

  /** Frames never wait much longer than `delayMs` for their commit, whether more frames come or not. */
  private tick(delayMs: number): void {
    const idle = !this.pushedSinceTick;
    this.pushedSinceTick = false;
    if (this.open.numFrames === 0 || this.closing || this.committer.failure) return;
    if (performance.now() - this.cutAt < delayMs) return;
    if (!idle) this.policy.overdue = true;
    else this.cutFromTimer();
  }

  /** Nobody above could catch what is thrown here. */
  private cutFromTimer(): void {
    try {
      this.cutBehindLast();
    } catch (error) {
      this.options.onFailure?.(error as Error); // without, the next `push` or `flush` meets the same
    }
  }

  private madeDurable({ nextFrame, nextString, items, lastTimePs }: CutSegment): void {
    this.durable = { nextFrame, nextString, items, lastTimePs, segments: this.store.numSegments };
    this.options.onDurable?.(nextFrame, nextString);
  }

  // -- close

  private async finish(end: SessionEnd): Promise<TraceStats> {
    if (this.timer) clearInterval(this.timer);
    let unused = this.memory ? [this.memory] : [];
    let isWhole = false;
    this.memory?.allowLast();
    this.open.stopSaving();
    await this.saving;
    try {
      this.cutForGood();
      await this.committer.drain();
      await this.committer.retryWhileFull(() => this.writeFinal(end));
      isWhole = true;
      unused = this.memory?.retire() ?? [];
      return this.stats;
    } finally {
      if (!isWhole) this.memory?.abandon(); // threads may still be at work in it
      this.options.signal?.removeEventListener('abort', this.onAbort);
      for (const { memory } of unused) forgetMemory(memory);
      this.compressor.close();
      await this.store.close();
    }
  }

  private async writeFinal(end: SessionEnd): Promise<void> {
    const { lost = 0n, rejected = 0n, completed, status } = end;
    this.lateStrings ??= this.strings.drain();
    const bytes = await this.store.finalize({
      totalTimePs: this.hasLast ? this.lastTimePs() : 0n,
      summary: this.summarizer?.finish() ?? EMPTY_SUMMARY,
      numStrings: this.strings.next,
      lateStrings: this.lateStrings,
      session: { ...this.session, status, lost, rejected, completed, endTimeMs: BigInt(Date.now()) },
    });
    this.durable = { ...this.durable, nextString: this.nextString };
    this.final = { status, lost, rejected, completed, bytes };
  }

  private lateStrings: Uint8Array[] | null = null;
  private isCutForGood = false;
}

function time(lo: number, hi: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo);
}
