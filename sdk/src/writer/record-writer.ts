/**
 * The writer: a stream of records (docs/reference/bridge-protocol.md#records) becomes a committed µScope file. Where segments end and when they
 * count as durable follows the rules of docs/explanation/durability.md.
 *
 *   records -> RecordIntake -> SegmentCutter -> Compressor -> Committer -> SegmentStore
 */
import { rm } from 'node:fs/promises';
import { UscopeError } from '../base/errors.js';
import type { EncodedStrings } from '../format/encoded-strings.js';
import type { SessionInfo } from '../format/session-chunk.js';
import { fitSummary, type TraceSummary } from '../format/tsum.js';
import type { Schema } from '../format/types.js';
import { stateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import { Committer, type CutSegment } from './committer.js';
import { forgetMemory } from './compression/compression-pool.js';
import { type Compressor, createCompressor } from './compression/compressor.js';
import type { AcceptedStats, SessionEnd, TraceStats, WriterOptions } from './contract/options.js';
import type { SegmentIndexer } from './contract/segment-indexer.js';
import { FileStore } from './file/file-store.js';
import { SegmentList } from './file/segment-list.js';
import type { SegmentStore } from './file/segment-store.js';
import { checkpointInterval, createTraceFile } from './file/trace-file.js';
import { CutPolicy, DEFAULT_HARD_BYTES, DEFAULT_SOFT_BYTES } from './frames/cut-policy.js';
import { CutTimer } from './frames/cut-timer.js';
import { FrameChecker } from './frames/frame-checker.js';
import { createFrameKernel, type FrameKernel } from './frames/frame-kernel.js';
import { checkpointBytes, granted } from './frames/memory-need.js';
import { RecordIntake } from './frames/record-intake.js';
import { LARGE_CHECKPOINT_BYTES, type SegmentBuffer } from './frames/segment-buffer.js';
import { SegmentCutter } from './frames/segment-cutter.js';
import { highHalf, lowHalf, StreamPosition } from './frames/stream-position.js';
import { StringLog } from './frames/string-log.js';
import { EMPTY_SUMMARY, type Summarizer, summaryBudget } from './frames/summarizer.js';
import { WriterMemory } from './frames/writer-memory.js';
import { note, openIndexer } from './guarded-indexer.js';
import { expandSmall } from './small.js';
import type { WriterStart } from './writer-start.js';

/** A producer that never waits is stopped here, long before memory is gone. */
const OVERRUN_BYTES = 384 * 1024 * 1024;
const DEFAULT_MAX_DELAY_MS = 1000;

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
        indexer: openIndexer(options, new Uint8Array(0)),
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

  /**
   * Continues from `start`. A state that is to be loaded is loaded where the writer has it: a large one is there once.
   * @throws what the constructor and `start.load` throw
   */
  static async open(options: WriterOptions, start: WriterStart): Promise<RecordWriter> {
    const writer = new RecordWriter(options, start);
    if (!start.load) return writer;
    try {
      await start.load(start.state);
      writer.cutter.start(options.start?.timePs ?? 0n);
      return writer;
    } catch (error) {
      writer.abandon();
      throw error;
    }
  }

  /** The state is so large that `pushSome` may return to have it saved. */
  readonly isLarge: boolean;
  private readonly session: SessionInfo;
  private readonly store: SegmentStore;
  private readonly position: StreamPosition;
  private readonly strings: StringLog;
  private readonly memory: WriterMemory | null;
  private readonly cutter: SegmentCutter;
  /** The fast path; null: the plain one takes everything. Public for tests, which compare the two. */
  readonly kernel: FrameKernel | null;
  private readonly summarizer: Summarizer | null;
  private readonly intake: RecordIntake;
  private readonly compressor: Compressor;
  private readonly indexer: SegmentIndexer | null;
  private readonly committer: Committer;
  private readonly timer: CutTimer;

  private durable: Durable;
  private closing: Promise<TraceStats> | null = null;
  private lateStrings: EncodedStrings | null = null;
  private final: (Required<Pick<SessionEnd, 'status' | 'completed'>> & Counted) | null = null;
  private readonly onAbort = (): void => this.discard(this.options.signal?.reason);

  /** What the writer was made of; for a resumed trace the file's own schema, interval and compression. */
  readonly schema: Schema;

  /** Use `create`, `open` or `resumeTrace`. */
  constructor(
    private readonly options: WriterOptions,
    start: WriterStart,
  ) {
    const { state, store, summarizer } = start;
    const startPs = options.start?.timePs ?? 0n;
    this.schema = state.layout.schema;
    this.isLarge = checkpointBytes(state.layout) > LARGE_CHECKPOINT_BYTES;
    this.session = start.session;
    this.store = store;
    this.position = new StreamPosition(start.nextFrame, start.items, start.lastTimePs, startPs);
    this.strings = new StringLog(start.nextString);
    this.durable = durableAt(start);
    const checker = new FrameChecker(state.layout);
    const policy = cutPolicy(options);
    this.memory = WriterMemory.create(start.allowance ?? null);
    try {
      const { memory, position, strings } = this;
      this.cutter = new SegmentCutter(policy, state, position, memory, (buffer, endPs) =>
        this.enqueue(buffer, endPs),
      );
      this.kernel =
        memory && options.kernel !== 'typescript'
          ? createFrameKernel(memory, state, summarizer, checker.payloadSizes, options.kernel !== 'wasm')
          : null;
      this.summarizer = this.kernel ? this.kernel.summarizer : summarizer;
      this.intake = new RecordIntake(
        state,
        this.summarizer,
        checker,
        this.kernel,
        this.cutter,
        position,
        strings,
      );
      this.compressor = createCompressor(options.compression ?? 'lz4', options.compressionLevel, memory);
      this.indexer = start.indexer ?? null;
      this.committer = this.createCommitter(this.indexer);
      if (!start.load) this.cutter.start(startPs);
    } catch (error) {
      this.memory?.abandon();
      throw error;
    }
    this.timer = new CutTimer(
      this.cutter,
      options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS,
      () => this.closing !== null || this.committer.failure !== null,
      (error) => options.onFailure?.(error), // without, the next `push` or `flush` meets the same
    );
    options.signal?.addEventListener('abort', this.onAbort);
    if (options.signal?.aborted) this.onAbort();
  }

  private createCommitter(indexer: SegmentIndexer | null): Committer {
    const { options } = this;
    return new Committer(
      this.store,
      this.compressor,
      {
        onDurable: (last) => this.madeDurable(last),
        // A client that waits for an acknowledgement sends nothing that would meet it.
        onFailure: (error) => options.onFailure?.(error),
        onStall: (error) => (options.onStall ?? warnOfStall)(error),
        onRecycle: (buffer) => this.cutter.recycle(buffer),
        onCommitted: (checkpoint, strings) => {
          this.memory?.giveBack(checkpoint);
          this.strings.release(strings);
        },
      },
      options.onFull ?? 'stop',
      indexer,
    );
  }

  /** Ordinal the next frame must have. */
  get nextFrame(): bigint {
    return BigInt(this.position.frames);
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
      items: BigInt(this.position.items),
      totalTimePs: this.position.totalTimePs,
    };
  }

  /**
   * Takes whole records from `words[first]` up to `words[end]`. A frame may continue in the next call; a record and its payload may not.
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
   * The same, but returns with the word to continue at: after `maxRuns` runs of frames, each of which cuts one segment at most, and where a large
   * state is to be saved before the next frame, which `ready` waits for.
   */
  pushSome(words: Uint32Array, first: number, end: number, maxRuns = Number.POSITIVE_INFINITY): number {
    return this.take(words, first, end, maxRuns, true);
  }

  private take(words: Uint32Array, first: number, end: number, maxRuns: number, mayPause: boolean): number {
    if (this.committer.failure) throw this.committer.failure;
    if (this.closing) throw new UscopeError('WRITER_CLOSED', 'the writer is closed', { file: this.path });
    if (this.committer.pendingBytes > OVERRUN_BYTES) {
      throw new UscopeError(
        'WRITER_OVERRUN',
        'too much waits for the disk; await ready() before the next push',
        {
          file: this.path,
        },
      );
    }
    this.timer.notePush();
    this.cutter.mayPause = mayPause;
    return this.intake.take(words, first, end, maxRuns);
  }

  /** The client starts again from a durable frame: an unfinished frame is dropped, and the rest of one already taken may come first. */
  restartStream(): void {
    this.intake.restart();
  }

  /** Whether a frame at this time (ps) would start a new segment on the checkpoint grid: the moment to offer snapshots. */
  cutDue(timePs: bigint): boolean {
    return this.cutter.isDue(lowHalf(timePs), highHalf(timePs));
  }

  /** True when `ready` would wait. */
  get congested(): boolean {
    return this.committer.isBehind || this.cutter.isBusy || this.committer.failure !== null;
  }

  /** Resolves when more records may be pushed: bounds the memory of segments that wait for the disk. @throws the writer's failure */
  async ready(): Promise<void> {
    if (this.committer.isBehind) await this.committer.caughtUp();
    if (this.cutter.working) await this.cutter.working;
    if (this.committer.failure) throw this.committer.failure;
  }

  /** Somebody looks on: for the next two seconds frames wait 250 ms at most for the end of their segment. */
  hasten(): void {
    if (this.closing === null) this.timer.hasten();
  }

  /** Ends the open segment after its last frame, if it has any, without waiting for its commit. */
  endSegment(): void {
    this.cutter.cutBehindLast();
  }

  /** Commits all complete frames; resolves when they are durable. */
  async flush(): Promise<void> {
    this.cutter.cutBehindLast();
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

  /** It could not be opened: nothing was taken, and the file is the caller's. */
  private abandon(): void {
    this.timer.stop();
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.compressor.close();
    this.memory?.abandon();
  }

  private enqueue(buffer: SegmentBuffer, timeEndPs: bigint): void {
    const { position } = this;
    this.committer.enqueue({
      buffer,
      timeEndPs,
      nextFrame: this.nextFrame,
      nextString: this.nextString,
      items: position.items,
      lastTimePs: position.totalTimePs,
      strings: this.strings.drain(),
      note: this.store.atCut?.(position.items),
    });
  }

  private madeDurable(last: CutSegment): void {
    this.durable = durableUpTo(last, this.store);
    this.options.onDurable?.(last.nextFrame, last.nextString);
  }

  private async finish(end: SessionEnd): Promise<TraceStats> {
    this.timer.stop();
    let unused = this.memory ? [this.memory] : [];
    let isWhole = false;
    this.memory?.allowLast();
    await this.cutter.stopWork();
    try {
      this.cutter.cutForGood();
      await this.committer.drain();
      await this.committer.retryWhileFull(() => this.writeFinal(end));
      isWhole = true;
      unused = this.memory?.retire() ?? [];
      return this.stats;
    } catch (error) {
      await this.countFound();
      throw error;
    } finally {
      if (!isWhole) this.memory?.abandon(); // threads may still be at work in it
      this.options.signal?.removeEventListener('abort', this.onAbort);
      for (const { memory } of unused) forgetMemory(memory);
      this.compressor.close();
      await this.store.close();
    }
  }

  /** What the last commit has left in the file before it failed is there for every reader, and so belongs to the numbers. */
  private async countFound(): Promise<void> {
    const last = await this.committer.lastFound().catch(() => null); // a disk that cannot be read: what is durable
    if (last) this.durable = durableUpTo(last, this.store);
  }

  /** All segments are in the file. */
  private summary(): TraceSummary {
    const whole = this.summarizer?.finish() ?? EMPTY_SUMMARY;
    return this.options.coarseSummary ? fitSummary(whole, summaryBudget(this.store.bytes)) : whole;
  }

  private async writeFinal(end: SessionEnd): Promise<void> {
    const { lost = 0n, rejected = 0n, completed, status } = end;
    this.lateStrings ??= this.strings.drain();
    const bytes = await this.store.finalize({
      totalTimePs: this.position.totalTimePs,
      summary: this.summary(),
      numStrings: this.strings.next,
      lateStrings: this.lateStrings,
      indexer: this.indexer,
      session: { ...this.session, status, lost, rejected, completed, endTimeMs: BigInt(Date.now()) },
    });
    this.durable = { ...this.durable, nextString: this.nextString };
    this.final = { status, lost, rejected, completed, bytes };
  }
}

function cutPolicy(options: WriterOptions): CutPolicy {
  return new CutPolicy({
    intervalPs: checkpointInterval(options),
    softBytes: options.softCutBytes ?? DEFAULT_SOFT_BYTES,
    hardBytes: options.hardCutBytes ?? DEFAULT_HARD_BYTES,
    creditBytes: options.creditBytes ?? DEFAULT_HARD_BYTES,
  });
}

/** A writer that waits without a word looks like one that hangs. */
function warnOfStall(error: UscopeError | null): void {
  if (error) note(error);
}

function durableUpTo({ nextFrame, nextString, items, lastTimePs }: CutSegment, store: SegmentStore): Durable {
  return { nextFrame, nextString, items, lastTimePs, segments: store.numSegments };
}

/** All that a writer starts from is durable. */
function durableAt({ nextFrame, nextString, items, lastTimePs, store }: WriterStart): Durable {
  return {
    nextFrame: BigInt(nextFrame),
    nextString: BigInt(nextString),
    items,
    lastTimePs: lastTimePs ?? 0n,
    segments: store.numSegments,
  };
}
