/**
 * One trace on its way from a client into its file: order, resume and credit (docs/bridge-protocol.md#data-header, #credit, #acknowledgement-and-resume). Everything that
 * happens to a session happens one after the other, in its own queue: a session that waits for the disk makes nobody else wait.
 */
import { UscopeError } from '../../base/errors.js';
import { encodeSchemaPayload } from '../../format/schema-chunk.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Account, TraceStats } from '../../writer/index.js';
import type { MemoryGrant } from '../memory/memory-account.js';
import type { RecordsGrant } from '../memory/records-grant.js';
import { type DataHeader, LANES, payloadWords } from '../wire/data-header.js';
import { type CloseMessage, type DaemonMessage, MAX_PAYLOAD_BYTES } from '../wire/protocol.js';
import { asUscopeError, sequenceError } from '../wire/session-error.js';
import { wireError } from '../wire/wire-error.js';
import { wireStats } from '../wire/wire-stats.js';
import { countItems } from './count-items.js';
import type { Pace } from './durability.js';
import { JobQueue } from './job-queue.js';
import { LaneRecords } from './lane-records.js';
import type { AheadRead } from './read-ahead.js';
import { SessionAccount } from './session-account.js';
import { SessionControl } from './session-control.js';
import { SessionMemory } from './session-memory.js';
import type { TraceSink } from './sink.js';
import { StreamOrder } from './stream-order.js';

/** A client's connection as one trace sees it; a new one with every `opened`. */
export interface SessionLink {
  readonly trace: number;
  readonly epoch: number;
  send(message: DaemonMessage): void;
}

/** What stays the same for the life of a session. */
export interface SessionInit {
  readonly id: Uint8Array;
  readonly name: string;
  /** Core index; absent: not one of several. */
  readonly core?: number | undefined;
  readonly intervalPs: bigint;
  /** Agreed bytes the client may have unacknowledged. */
  readonly credit: number;
  /** When the file is synced, where that may be put off. */
  readonly pace?: Pace | undefined;
  /** What of the daemon's memory is the session's. */
  readonly grant?: MemoryGrant | undefined;
  /** The same for records that the client sends. */
  readonly records?: RecordsGrant | undefined;
}

export interface SessionEvents {
  /** The file is finalized, or given up (`failure`). Called again when more is known of the client of a trace that has failed. */
  onEnd(session: Session): void;
  onStall(session: Session, error: UscopeError | null): void;
}

export class Session {
  link: SessionLink | null = null;
  /** Why the session ended before its client closed it. */
  failure: UscopeError | null = null;
  /** What the client refused, by error code. */
  reasons: readonly (readonly [string, bigint])[] = [];
  /** The file's system has no room. */
  stalled: UscopeError | null = null;
  readonly ended: Promise<void>;
  /** Commands from outside, and what is disabled. */
  readonly control = new SessionControl(() => (this.isEnding ? null : this.link));

  /** null once the session has ended: what is remembered of it shall not hold the writer's memory. */
  private sink: TraceSink | null = null;
  private onClosed: () => void = () => {};
  private schemaBytes: Uint8Array = new Uint8Array(0);
  private readonly queue = new JobQueue((error) => this.fail(asUscopeError(error)));
  private queuedBytes = 0;
  /** Taken in since the last acknowledgement. */
  private unackedBytes = 0;
  private overran = false;
  private final: TraceStats | null = null;
  private resolveEnded!: () => void;

  private readonly count = new SessionAccount();
  /** Everything in the memory of a client that is gone has been taken. */
  isDrained = false;
  /** Nothing more can be taken from there. */
  private isMemoryUseless = false;
  private readonly memory: SessionMemory;
  private readonly order = new StreamOrder();
  private readonly lanes = new LaneRecords();
  private durableStrings = 0n;
  /** The client lives, and may open the trace again. */
  private mayReturn = false;
  /** Items received and not recorded, because the session had failed. */
  private lostItems = 0n;

  constructor(
    readonly init: SessionInit,
    private readonly events: SessionEvents,
  ) {
    this.memory = new SessionMemory(init.id);
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve;
    });
  }

  /**
   * The sink is created with the callbacks below, so it comes after the session.
   * @param onClosed called when nothing is written any more, before the end is reported
   */
  attach(sink: TraceSink, resumed: boolean, onClosed: () => void = () => {}): void {
    this.sink = sink;
    this.onClosed = onClosed;
    // Without the properties, whose strings would be in the same pool: another daemon knows another start of the run, and the client takes
    // nothing but the same bytes when it comes back.
    this.schemaBytes = encodeSchemaPayload(sink.schema, []).schema;
    if (!resumed) return;
    this.durableStrings = sink.nextString;
    sink.restartStream();
  }

  get isEnded(): boolean {
    return this.final !== null;
  }

  /** No more data is taken: it is being closed, or over. */
  get isEnding(): boolean {
    return this.isEnded || this.failure !== null;
  }

  /** Numbers so far, or the final ones. */
  get stats(): TraceStats {
    return this.final ?? this.writer.stats;
  }

  /** What became of the client's frames, as far as it is known. */
  get account(): Account {
    return this.count.of(this.stats);
  }

  /** The client's memory, where it still holds what is not in the file. */
  get keptMemory(): string | null {
    return this.count.memoryPath;
  }

  private get writer(): TraceSink {
    if (!this.sink)
      throw new UscopeError('BRIDGE_INTERNAL', `the session of "${this.init.name}" has no writer`);
    return this.sink;
  }

  /** Bytes of records received that are not acknowledged yet. */
  get unacknowledgedBytes(): bigint {
    return BigInt(this.unackedBytes + this.queuedBytes);
  }

  // -- what the writer reports

  onDurable(frames: bigint, strings: bigint): void {
    this.durableStrings = strings;
    this.unackedBytes = 0;
    const { link } = this;
    link?.send({ t: 'ack', trace: link.trace, epoch: link.epoch, frames });
  }

  onStall(error: UscopeError | null): void {
    this.stalled = error;
    const { link } = this;
    if (error) link?.send({ t: 'stalled', trace: link.trace, ...wireError(error) });
    this.events.onStall(this, error);
  }

  /** The writer cannot continue, and nobody was calling it. */
  onFailure(error: Error): void {
    this.queue.run(() => this.fail(asUscopeError(error)));
  }

  // -- what the client sends

  /** A data message whose header is well-formed; `payload` is null when the records are in the client's memory. */
  receive(header: DataHeader, payload: Uint8Array | null): void {
    if (this.overran) return;
    const ahead = payload || this.isEnding ? null : this.memory.readEarly(header, this.writer);
    const records = () => (payload ? payloadWords(payload) : this.readWords(header));
    if (payload && !this.mayHold()) return;
    this.queuedBytes += header.payloadSize;
    this.queue.run(() => (ahead ? this.takeEarly(header, ahead) : this.take(header, records)));
    // A client that keeps to the credit cannot get here; one message more is allowed for what was on its way during a resume.
    if (this.queuedBytes > this.init.credit + MAX_PAYLOAD_BYTES) this.overrun();
  }

  /** A data message that cannot be read: the client shall open the trace again. */
  receiveMalformed(error: UscopeError): void {
    this.queue.run(() => this.reject(error));
  }

  /** (Re)starts the stream on `link`: answers `opened`, or `error` when the session has failed. */
  open(req: number, link: SessionLink, offersMemory = false): void {
    this.queue.run(async () => {
      if (!this.isEnding) await this.restart(offersMemory).catch((error) => this.fail(asUscopeError(error)));
      if (this.failure) {
        link.send({ t: 'error', req, ...wireError(this.failure) });
        return;
      }
      this.link = link;
      this.memory.agreed = offersMemory;
      const { intervalPs, credit } = this.init;
      link.send({
        t: 'opened',
        req,
        trace: link.trace,
        epoch: link.epoch,
        schema: this.schemaBytes,
        frames: this.final?.frames ?? this.writer.durableFrames, // of a flight recorder with those let go
        strings: this.final?.strings ?? this.durableStrings,
        interval_ps: intervalPs,
        credit,
        path: this.stats.path,
        memory: offersMemory ? true : undefined,
        lanes: true,
      });
      this.control.resume();
    });
  }

  /** The client waits for what it has sent to be durable: commits it without waiting for more. */
  flush(epoch: number): void {
    this.queue.run(async () => {
      if (this.isEnding || this.order.outOfStep || epoch !== this.link?.epoch) return;
      await this.flushWriter();
    });
  }

  /** Finalizes the file and answers `closed`; again with the same answer when it is asked again. */
  close(message: CloseMessage, answer: (message: DaemonMessage) => void): void {
    this.queue.run(async () => {
      if (!this.isEnding && this.isIncomplete(message)) return;
      this.reasons = this.isEnded ? this.reasons : (message.reasons ?? []);
      if (!this.isEnded) this.control.skipped = message.skipped ?? this.control.skipped;
      const { session, trace } = message;
      const tell = (): void => answer({ t: 'closed', trace, session, stats: wireStats(this.stats) });
      if (this.isEnded) {
        tell();
        return;
      }
      this.count.told(message.frames);
      // Of a file that could not be finalized: what is not durable is in the client's memory alone.
      await this.finish(SessionStatus.CLOSED, message.rejected ?? 0n, () =>
        this.failure ? this.sendError(this.failure) : tell(),
      );
    });
  }

  /** Finalizes what is there, without the client. Resolves when that is done or has failed. */
  finalize(status: SessionStatus, reason: UscopeError, mayReturn = false): Promise<void> {
    this.queue.run(async () => {
      if (this.isEnded) return;
      this.mayReturn = mayReturn;
      await this.drainMemory();
      await this.finish(status, 0n, () => this.sendError(this.failure ?? reason));
    });
    return this.ended;
  }

  /** The client of a trace that had failed has ended: now its memory says how many frames it completed. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      this.queue.run(() => {
        try {
          if (this.isEnded && this.account.completed === null) this.settleNow();
        } finally {
          resolve();
        }
      });
    });
  }

  private settleNow(): void {
    const memory = this.memory.open();
    const isOver = memory?.isAbandoned === true;
    if (isOver) this.count.inspect(memory, this.keepsMemory);
    this.memory.close(false);
    if (isOver) this.events.onEnd(this);
  }

  /** Of a flight recorder: makes a file of what it has kept, when everything received before is taken. */
  trigger(label: string): void {
    this.queue.run(() => {
      if (!this.isEnding) this.sink?.trigger?.(label);
    });
  }

  /** Nothing of the daemon's memory is the session's any more. */
  releaseMemory(): void {
    this.init.grant?.release();
    this.init.records?.release();
  }

  /** Stops waiting for disk space. */
  abortWaiting(): void {
    this.sink?.abortWaiting();
  }

  // -- what is taken in

  private async takeEarly(header: DataHeader, ahead: AheadRead): Promise<void> {
    const words = await ahead.words.catch(asUscopeError);
    let wait: void | Promise<void>;
    try {
      wait = this.take(header, () => {
        if (words instanceof UscopeError) throw words;
        return words;
      });
    } finally {
      ahead.done(); // before the wait for the writer: the next message is read meanwhile
    }
    await wait;
  }

  /** Records that wait in the daemon's memory, not in the client's. */
  private mayHold(): boolean {
    try {
      this.init.records?.reserve();
      return true;
    } catch (error) {
      this.overran = true;
      this.queue.run(() => this.fail(asUscopeError(error)));
      return false;
    }
  }

  private take(header: DataHeader, records: () => Uint32Array): void | Promise<void> {
    this.queuedBytes -= header.payloadSize;
    if (this.failure && header.epoch === this.link?.epoch) this.count.seen(header.firstFrame);
    if (this.failure && !this.isEnded) this.lostItems += countItems(records());
    if (this.isEnding || this.order.outOfStep || header.epoch !== this.link?.epoch) return;
    if (this.order.isRepeated(header)) return;
    const gap = this.order.gapBefore(header, this.writer.nextFrame);
    if (gap) {
      this.reject(gap);
      return;
    }
    let words: Uint32Array;
    try {
      words = records();
    } catch (error) {
      this.reject(asUscopeError(error));
      return;
    }
    this.order.advance();
    this.push(words, this.isFolded(header));
    this.unackedBytes += header.payloadSize;
    const { congested } = this.writer;
    // The client is about to wait for acknowledgements.
    if (congested || this.unackedBytes > this.init.credit / 2) this.init.pace?.hurry();
    if (congested) return this.writer.ready();
  }

  private flushWriter(): Promise<void> {
    this.init.pace?.hurry();
    return this.writer.flush();
  }

  /** There may be lane records in it, or are in the frame that it continues with. */
  private isFolded({ flags }: DataHeader): boolean {
    return (flags & LANES) !== 0 || this.lanes.isOpen;
  }

  /** What is unfolded is copied to the first window: it must not be there itself. */
  private readWords(header: DataHeader): Uint32Array {
    const [first = null] = this.isFolded(header) ? [] : this.writer.windows;
    return this.memory.words(header, first);
  }

  private push(words: Uint32Array, isFolded: boolean): void {
    const sink = this.writer;
    const { nextFrame } = sink;
    const { items } = sink.accepted;
    try {
      if (!isFolded) sink.push(words);
      else for (const piece of this.lanes.unfold(words)) sink.push(piece);
    } catch (error) {
      // While frames are skipped, what is not recorded is not lost.
      if (!this.order.catchingUp) this.lostItems += countItems(words) - (sink.accepted.items - items);
      throw error;
    }
    if (sink.nextFrame !== nextFrame) this.order.catchingUp = false;
  }

  private reject(error: UscopeError): void {
    if (this.isEnding || this.order.outOfStep) return;
    this.order.outOfStep = true;
    this.sendError(error, true);
  }

  /** Commits what is complete, so that the client sends again as little as possible; what is not is dropped. */
  private async restart(offersMemory: boolean): Promise<void> {
    const sink = this.writer;
    if (!offersMemory) this.init.records?.reserve();
    if (sink.nextFrame > 0n || this.link) sink.restartStream();
    this.lanes.restart();
    await this.flushWriter();
    this.order.restart();
  }

  /** A `close` that counts more than has arrived: the client shall open the trace again and send the rest. */
  private isIncomplete(message: CloseMessage): boolean {
    const { nextFrame, nextString } = this.writer;
    if (!this.order.outOfStep && message.frames <= nextFrame && message.strings <= nextString) return false;
    this.order.outOfStep = false;
    this.reject(
      sequenceError(
        `close counts ${message.frames} frames and ${message.strings} strings; ${nextFrame} and ${nextString} have arrived`,
      ),
    );
    return true;
  }

  // -- the end

  private async drainMemory(): Promise<void> {
    const memory = this.memory.open();
    if (this.failure !== null || !memory?.isAbandoned) return;
    try {
      this.count.salvages(this.writer.nextFrame);
      await this.memory.takeRemains(memory, this.lanes, this.writer);
      this.isDrained = true;
    } catch (error) {
      this.failure = asUscopeError(error);
      // Records that a dying simulator wrote over; a full disk is another matter.
      this.isMemoryUseless = this.failure.code === 'BRIDGE_RECORD' || this.failure.code === 'BRIDGE_MESSAGE';
    }
  }

  /** As clients do, unless everything in it is durable or has been refused. */
  private get keepsMemory(): boolean {
    const isTaken = this.isDrained && this.failure === null;
    return !isTaken && !this.isMemoryUseless && this.failure?.code !== 'BRIDGE_RECORD';
  }

  private overrun(): void {
    this.overran = true;
    const detail = `the client has sent more than its credit of ${this.init.credit} bytes without waiting`;
    this.queue.run(() => this.fail(new UscopeError('BRIDGE_LIMIT', detail)));
  }

  /** The trace cannot continue. The file keeps every frame before the trouble. */
  private fail(error: UscopeError): void {
    if (this.isEnding) return;
    this.failure = error;
    this.sendError(error);
    this.queue.run(() => this.finish(SessionStatus.CLOSED, 0n));
  }

  private sendError(error: UscopeError, retry?: true): void {
    const { link } = this;
    link?.send({ t: 'error', trace: link.trace, epoch: link.epoch, ...wireError(error), retry });
  }

  /** @param tell notifies the client first, because others may close the socket */
  private async finish(status: SessionStatus, rejected: bigint, tell?: () => void): Promise<void> {
    if (this.isEnded) return;
    const sink = this.writer;
    this.init.pace?.end();
    await this.memory.endReads();
    this.count.seen(sink.nextFrame);
    this.count.inspect(this.memory.open(), this.keepsMemory);
    try {
      this.final = await sink.close({
        status,
        rejected,
        lost: this.count.lostItems(sink.nextFrame, this.failure ? this.lostItems || 1n : 0n),
        completed: this.count.completed,
        mayReturn: this.mayReturn,
      });
    } catch (error) {
      this.failure ??= asUscopeError(error);
      this.final = sink.stats;
      this.count.inspect(this.memory.open(), this.keepsMemory);
    }
    this.sink = null;
    this.onClosed();
    this.memory.close(this.isMemoryUseless || (this.isDrained && this.failure === null));
    this.control.end();
    tell?.();
    this.releaseMemory();
    this.events.onEnd(this);
    this.resolveEnded();
  }
}
