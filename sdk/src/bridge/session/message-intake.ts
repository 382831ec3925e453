/**
 * The data messages of a session on their way into its writer: order (docs/reference/bridge-protocol.md#data-header), credit (#credit), and what is lost
 * when they cannot be taken. Each is taken in the session's queue, after those before it.
 */
import { UscopeError } from '../../base/errors.js';
import { type DataHeader, LANES, payloadWords } from '../wire/data-header.js';
import { type CloseMessage, MAX_PAYLOAD_BYTES } from '../wire/protocol.js';
import { asUscopeError, sequenceError } from '../wire/session-error.js';
import type { AckGate } from './ack-gate.js';
import type { JobQueue } from './job-queue.js';
import { LaneRecords } from './lane-records.js';
import type { AheadRead } from './read-ahead.js';
import type { SessionAccount } from './session-account.js';
import type { SessionInit, SessionLink } from './session-init.js';
import type { SessionMemory } from './session-memory.js';
import { pushInTurns, type TraceSink } from './sink.js';
import { StreamOrder } from './stream-order.js';
import { countItems } from './unfold-lanes.js';

/** The session, as its intake knows it. */
export interface IntakeOwner {
  readonly init: SessionInit;
  readonly link: SessionLink | null;
  readonly failure: UscopeError | null;
  readonly isEnded: boolean;
  readonly isEnding: boolean;
  /** @throws UscopeError BRIDGE_INTERNAL once the session has ended */
  readonly writer: TraceSink;
  /** The trace cannot continue. */
  fail(error: UscopeError): void;
  /** @param retry the client shall open the trace again */
  sendError(error: UscopeError, retry?: true): void;
}

export class MessageIntake {
  readonly lanes = new LaneRecords();
  /** Items received and not recorded, because the session had failed. */
  lostItems = 0n;
  private readonly order = new StreamOrder();
  /** Of messages that wait in the queue. */
  private queuedBytes = 0;
  /** Taken in since the last acknowledgement. */
  private unackedBytes = 0;
  private overran = false;

  constructor(
    private readonly owner: IntakeOwner,
    private readonly queue: JobQueue,
    private readonly memory: SessionMemory,
    private readonly count: SessionAccount,
    private readonly acks: AckGate,
  ) {}

  /** Bytes of records received that are not acknowledged yet. */
  get unacknowledgedBytes(): bigint {
    return BigInt(this.unackedBytes + this.queuedBytes);
  }

  acknowledged(): void {
    this.unackedBytes = 0;
  }

  /** The stream has a gap, or has not begun: nothing is taken until the client opens the trace again. */
  get isOutOfStep(): boolean {
    return this.order.outOfStep;
  }

  /** A data message whose header is well-formed; `payload` is null when the records are in the client's memory. */
  receive(header: DataHeader, payload: Uint8Array | null): void {
    if (this.overran) return;
    const { owner } = this;
    const ahead = payload || owner.isEnding ? null : this.memory.readEarly(header, owner.writer);
    const records = () => (payload ? payloadWords(payload) : this.readWords(header));
    if (payload && !this.mayHold()) return;
    this.queuedBytes += header.payloadSize;
    this.queue.run(() => (ahead ? this.takeEarly(header, ahead) : this.take(header, records)));
    // A client that keeps to the credit cannot get here; one message more is allowed for what was on its way during a resume.
    if (this.queuedBytes > owner.init.credit + MAX_PAYLOAD_BYTES) this.overrun();
  }

  /** Nothing more is taken of the stream: the client shall open the trace again. */
  reject(error: UscopeError): void {
    if (this.owner.isEnding || this.order.outOfStep) return;
    this.order.outOfStep = true;
    this.owner.sendError(error, true);
  }

  /** Messages are taken from now on, from number 0. */
  restart(): void {
    this.order.restart();
  }

  /** A `close` that counts more than has arrived: the client shall open the trace again and send the rest. */
  isIncomplete(message: CloseMessage): boolean {
    const { nextFrame, nextString } = this.owner.writer;
    if (!this.order.outOfStep && message.frames <= nextFrame && message.strings <= nextString) return false;
    this.order.outOfStep = false;
    this.reject(
      sequenceError(
        `close counts ${message.frames} frames and ${message.strings} strings; ${nextFrame} and ${nextString} have arrived`,
      ),
    );
    return true;
  }

  /** Records that wait in the daemon's memory, not in the client's. */
  private mayHold(): boolean {
    try {
      this.owner.init.records?.reserve();
      return true;
    } catch (error) {
      this.overran = true;
      this.queue.run(() => this.owner.fail(asUscopeError(error)));
      return false;
    }
  }

  private overrun(): void {
    this.overran = true;
    const detail = `the client has sent more than its credit of ${this.owner.init.credit} bytes without waiting`;
    this.queue.run(() => this.owner.fail(new UscopeError('BRIDGE_LIMIT', detail)));
  }

  private async takeEarly(header: DataHeader, ahead: AheadRead): Promise<void> {
    const words = await ahead.words.catch(asUscopeError);
    try {
      const pushed = this.takeRecords(header, () => {
        if (words instanceof UscopeError) throw words;
        return words;
      });
      if (pushed) await pushed;
    } finally {
      ahead.done(); // before the wait for the writer: the next message is read meanwhile
    }
    await this.untilReady(header);
  }

  private take(header: DataHeader, records: () => Uint32Array): void | Promise<void> {
    const pushed = this.takeRecords(header, records);
    return pushed ? pushed.then(() => this.untilReady(header)) : this.untilReady(header);
  }

  /** Resolves when the writer has them, where it does not take them at once. */
  private takeRecords(header: DataHeader, records: () => Uint32Array): void | Promise<void> {
    this.queuedBytes -= header.payloadSize;
    const { failure, link, isEnded } = this.owner;
    if (failure && header.epoch === link?.epoch) this.count.seen(header.firstFrame);
    if (failure && !isEnded) this.lostItems += countItems(records());
    if (!this.isDue(header) || this.order.isRepeated(header)) return;
    const gap = this.order.gapBefore(header, this.owner.writer.nextFrame);
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
    this.unackedBytes += header.payloadSize;
    return this.push(words, this.isFolded(header));
  }

  /** The session takes messages, and the message is from the connection that it has now. */
  private isDue({ epoch }: DataHeader): boolean {
    return !this.owner.isEnding && !this.order.outOfStep && epoch === this.owner.link?.epoch;
  }

  private untilReady(header: DataHeader): void | Promise<void> {
    if (!this.isDue(header)) return;
    const { init, writer } = this.owner;
    this.acks.take(header.payloadSize, writer.nextFrame, this.queuedBytes);
    const { congested } = writer;
    // The client is about to wait for acknowledgements.
    if (congested || this.unackedBytes > init.credit / 2) init.pace?.hurry();
    if (congested) return writer.ready();
  }

  /** There may be lane records in it, or are in the frame that it continues with. */
  private isFolded({ flags }: DataHeader): boolean {
    return (flags & LANES) !== 0 || this.lanes.isOpen;
  }

  private readWords(header: DataHeader): Uint32Array {
    return this.memory.words(header, this.windowFor(header));
  }

  /**
   * What is unfolded is copied to the first window: it must not be there itself. Where that is done in turns, others read their records
   * meanwhile.
   */
  private windowFor(header: DataHeader): Uint8Array | null {
    const { isLarge, windows } = this.owner.writer;
    if (!this.isFolded(header)) return windows[0] ?? null;
    return isLarge ? new Uint8Array(header.payloadSize) : null;
  }

  private push(words: Uint32Array, isFolded: boolean): void | Promise<void> {
    const sink = this.owner.writer;
    const before = { nextFrame: sink.nextFrame, items: sink.accepted.items };
    if (sink.isLarge)
      return this.pushInTurns(words, isFolded).then(
        () => this.pushed(before.nextFrame),
        (error) => this.notPushed(error, words, before.items),
      );
    try {
      if (!isFolded) sink.push(words);
      else for (const piece of this.lanes.unfold(words)) sink.push(piece);
    } catch (error) {
      this.notPushed(error, words, before.items);
    }
    this.pushed(before.nextFrame);
  }

  private async pushInTurns(words: Uint32Array, isFolded: boolean): Promise<void> {
    for (const piece of isFolded ? this.lanes.unfold(words) : [words])
      await pushInTurns(this.owner.writer, piece);
  }

  private pushed(nextFrame: bigint): void {
    if (this.owner.writer.nextFrame !== nextFrame) this.order.catchingUp = false;
  }

  private notPushed(error: unknown, words: Uint32Array, items: bigint): never {
    // While frames are skipped, what is not recorded is not lost.
    if (!this.order.catchingUp)
      this.lostItems += countItems(words) - (this.owner.writer.accepted.items - items);
    throw error;
  }
}
