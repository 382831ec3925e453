/**
 * One trace on its way from a client into its file: how it begins, resumes (docs/reference/bridge-protocol.md#acknowledgement-and-resume) and ends. Everything
 * that happens to a session happens one after the other, in its own queue: a session that waits for the disk makes nobody else wait. Its data messages are
 * the matter of MessageIntake.
 */
import { UscopeError } from '../../base/errors.js';
import { encodeSchemaPayload } from '../../format/schema-chunk.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Account, TraceStats } from '../../writer/index.js';
import type { DataHeader } from '../wire/data-header.js';
import type { CloseMessage, DaemonMessage, WireStats } from '../wire/protocol.js';
import { asUscopeError, wireError } from '../wire/session-error.js';
import { AckGate } from './ack-gate.js';
import { ClientRemains } from './client-remains.js';
import { JobQueue } from './job-queue.js';
import { type IntakeOwner, MessageIntake } from './message-intake.js';
import { SessionAccount } from './session-account.js';
import { SessionControl } from './session-control.js';
import type { SessionInit, SessionLink } from './session-init.js';
import { SessionMemory } from './session-memory.js';
import type { TraceSink } from './sink.js';

export interface SessionEvents {
  /** The file is finalized, or given up (`failure`). Called again when more is known of the client of a trace that has failed. */
  onEnd(session: Session): void;
  onStall(session: Session, error: UscopeError | null): void;
}

export class Session implements IntakeOwner {
  link: SessionLink | null = null;
  /** Why the session ended before its client closed it. */
  failure: UscopeError | null = null;
  /** What the client refused, by error code. */
  reasons: readonly (readonly [string, bigint])[] = [];
  /** The file's system has no room. */
  stalled: UscopeError | null = null;
  readonly ended: Promise<void>;
  /** Somebody waits for its end: the client has closed it, or it is finalized without one. */
  isClosing = false;
  /** Commands from outside, and what is disabled. */
  readonly control = new SessionControl(() => (this.isEnding ? null : this.link));

  /** null once the session has ended: what is remembered of it shall not hold the writer's memory. */
  private sink: TraceSink | null = null;
  private onClosed: () => void = () => {};
  private schemaBytes: Uint8Array = new Uint8Array(0);
  private readonly queue = new JobQueue((error) => this.fail(asUscopeError(error)));
  private final: TraceStats | null = null;
  private resolveEnded!: () => void;

  private readonly count = new SessionAccount();
  private readonly memory: SessionMemory;
  private readonly remains: ClientRemains;
  private readonly acks: AckGate;
  private readonly intake: MessageIntake;
  private durableStrings = 0n;
  /** The client lives, and may open the trace again. */
  private mayReturn = false;

  constructor(
    readonly init: SessionInit,
    private readonly events: SessionEvents,
  ) {
    this.memory = new SessionMemory(init.id);
    this.remains = new ClientRemains(this.memory, this.count);
    this.acks = new AckGate(init.credit, (frames) => this.acknowledge(frames));
    this.intake = new MessageIntake(this, this.queue, this.memory, this.count, this.acks);
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

  /** Everything in the memory of a client that is gone has been taken. */
  get isDrained(): boolean {
    return this.remains.isDrained;
  }

  get writer(): TraceSink {
    if (!this.sink)
      throw new UscopeError('BRIDGE_INTERNAL', `the session of "${this.init.name}" has no writer`);
    return this.sink;
  }

  /** Bytes of records received that are not acknowledged yet. */
  get unacknowledgedBytes(): bigint {
    return this.intake.unacknowledgedBytes;
  }

  // -- what the writer reports

  onDurable(frames: bigint, strings: bigint): void {
    this.durableStrings = strings;
    this.intake.acknowledged();
    this.acks.durable(frames);
  }

  private acknowledge(frames: bigint): void {
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
    this.intake.receive(header, payload);
  }

  /** A data message that cannot be read: the client shall open the trace again. */
  receiveMalformed(error: UscopeError): void {
    this.queue.run(() => this.intake.reject(error));
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
      if (this.isEnding || this.intake.isOutOfStep || epoch !== this.link?.epoch) return;
      await this.flushWriter();
      this.acks.release();
    });
  }

  /** Finalizes the file and answers `closed`; again with the same answer when it is asked again. */
  close(message: CloseMessage, answer: (message: DaemonMessage) => void): void {
    this.isClosing = true;
    this.queue.run(async () => {
      this.isClosing = this.isEnding || !this.intake.isIncomplete(message);
      if (!this.isClosing) return;
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
    this.isClosing = true;
    this.queue.run(async () => {
      if (this.isEnded) return;
      this.mayReturn = mayReturn;
      if (this.failure === null) await this.drainMemory();
      await this.finish(status, 0n, () => this.sendError(this.failure ?? reason));
    });
    return this.ended;
  }

  /** The client of a trace that had failed has ended: now its memory says how many frames it completed. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      this.queue.run(() => {
        try {
          const isOpen = this.isEnded && this.account.completed === null;
          if (isOpen && this.remains.settle(this.failure)) this.events.onEnd(this);
        } finally {
          resolve();
        }
      });
    });
  }

  /** Somebody looks on: frames wait less for the end of their segment, for the next two seconds. */
  hasten(): void {
    if (this.isEnding || !this.sink?.hasten) return;
    this.sink.hasten();
    this.acks.hasten();
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

  private flushWriter(): Promise<void> {
    this.init.pace?.hurry();
    return this.writer.flush();
  }

  /** Commits what is complete, so that the client sends again as little as possible; what is not is dropped. */
  private async restart(offersMemory: boolean): Promise<void> {
    const sink = this.writer;
    if (!offersMemory) this.init.records?.reserve();
    if (sink.nextFrame > 0n || this.link) sink.restartStream();
    this.intake.lanes.restart();
    await this.flushWriter();
    this.acks.restart();
    this.intake.restart();
  }

  // -- the end

  private async drainMemory(): Promise<void> {
    const problem = await this.remains.drain(this.intake.lanes, this.writer);
    if (problem) this.failure = problem;
  }

  /** The trace cannot continue. The file keeps every frame before the trouble. */
  fail(error: UscopeError): void {
    if (this.isEnding) return;
    this.failure = error;
    this.sendError(error);
    this.queue.run(() => this.finish(SessionStatus.CLOSED, 0n));
  }

  sendError(error: UscopeError, retry?: true): void {
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
    this.remains.inspect(this.failure);
    try {
      this.final = await sink.close({
        status,
        rejected,
        lost: this.count.lostItems(sink.nextFrame, this.failure ? this.intake.lostItems || 1n : 0n),
        completed: this.count.completed,
        mayReturn: this.mayReturn,
      });
    } catch (error) {
      this.failure ??= asUscopeError(error);
      this.final = sink.stats;
      this.remains.inspect(this.failure);
    }
    this.sink = null;
    this.onClosed();
    this.acks.restart();
    this.remains.close(this.failure);
    this.control.end();
    tell?.();
    this.releaseMemory();
    this.events.onEnd(this);
    this.resolveEnded();
  }
}

/** The numbers of a trace as `closed` says them. */
function wireStats(stats: TraceStats): WireStats {
  const { path, status, frames, items, strings, segments, bytes, totalTimePs, rejected, lost } = stats;
  return {
    path,
    status,
    frames,
    items,
    strings,
    segments,
    bytes,
    total_time_ps: totalTimePs,
    rejected,
    lost,
  };
}
