/** One trace of a client: what it has sent and not yet seen acknowledged, and how that is sent again. */
import { UscopeError } from '../../../sdk/src/base/errors.js';
import { CONTINUES, payloadWords } from '../../../sdk/src/bridge/wire/data-header.js';
import {
  type ClientMessage,
  type CloseMessage,
  type DaemonMessage,
  type ErrorMessage,
  MAX_PAYLOAD_BYTES,
  type OpenedMessage,
  type WireStats,
} from '../../../sdk/src/bridge/wire/protocol.js';
import { remoteError } from '../../../sdk/src/bridge/wire/session-error.js';
import { RECORD_BYTES, RecordKind, recordLength } from '../../../sdk/src/format/record.js';
import { encodeDataHeader } from '../data-header.js';

/** What a trace needs of its connection. */
export interface ClientLink {
  control(message: ClientMessage): void;
  data(header: Uint8Array, payload: Uint8Array): void;
  /** Opens the trace again, after a new `hello` if the daemon does not know it; `opened` is then called on it. */
  reopen(trace: ClientTrace, unknown: boolean): void;
  /** The trace is closed. */
  forget(trace: ClientTrace): void;
  /** Throws when the daemon has been silent for too long; resolves when anything may have changed. */
  change(): Promise<void>;
}

/** A message that is kept until its frames are durable. */
interface Held {
  readonly payload: Uint8Array;
  readonly firstFrame: bigint;
  /** Ordinal of the frame that the last record belongs to or comes before. */
  readonly lastFrame: bigint;
  readonly continues: boolean;
}

export class ClientTrace {
  /** The path of the file that the daemon writes. */
  path = '';
  /** Payload of the binary schema chunk. */
  schema: Uint8Array = new Uint8Array(0);
  /** Frames below this ordinal are durable. */
  durableFrames = 0n;
  /** Why the trace has ended. */
  failure: UscopeError | null = null;
  /** The daemon waits for disk space, or did so last. */
  stalled: string | null = null;

  /** Complete frames and strings so far. */
  frames = 0n;
  strings = 0n;

  private held: Held[] = [];
  private heldBytes = 0;
  private credit = 0;
  private trace = -1;
  /** Open on the current connection. */
  private attached = false;
  private epoch = -1;
  private seq = 0n;
  private inFrame = false;
  private closeMessage: CloseMessage | null = null;
  private stats: WireStats | null = null;

  constructor(
    private readonly link: ClientLink,
    readonly session: Uint8Array,
  ) {}

  /** Number on the connection it was opened on last: what that daemon said before it went may arrive after the loss is known. */
  get number(): number {
    return this.trace;
  }

  get isOpen(): boolean {
    return this.attached;
  }

  /**
   * Sends whole records (docs/reference/bridge-protocol.md#records), at most 1 MiB. Waits while the credit is used up. The bytes are not copied and
   * must not change any more.
   * @throws UscopeError the trace's failure, BRIDGE_LOST
   */
  async send(records: Uint8Array): Promise<void> {
    if (records.length % RECORD_BYTES !== 0 || records.length > Math.min(this.credit, MAX_PAYLOAD_BYTES)) {
      throw new UscopeError('BRIDGE_LIMIT', `${records.length} bytes of records do not fit one message`);
    }
    while (this.heldBytes + records.length > this.credit) await this.wait();
    if (this.failure) throw this.failure;
    const held = this.describe(records);
    this.held.push(held);
    this.heldBytes += records.length;
    if (this.attached) this.transmit(held);
  }

  /** Resolves when all complete frames are durable. */
  async flushed(): Promise<void> {
    while (this.durableFrames < this.frames) await this.wait();
  }

  /** Ends the trace; the statistics come when its file is finalized. @throws UscopeError the trace's failure, BRIDGE_LOST */
  async close(rejected = 0n, reasons: CloseMessage['reasons'] = []): Promise<WireStats> {
    const { session, frames, strings } = this;
    this.closeMessage = { t: 'close', trace: 0, session, frames, strings, rejected, reasons };
    this.sendClose();
    while (!this.stats) await this.wait();
    this.link.forget(this);
    return this.stats;
  }

  // -- called by the connection

  /** The connection is gone: nothing is sent until the trace is open again. */
  detach(): void {
    this.attached = false;
  }

  opened(message: OpenedMessage): void {
    this.path = message.path;
    this.schema = message.schema;
    this.credit = message.credit;
    this.trace = message.trace;
    this.attached = true;
    this.epoch = message.epoch;
    this.seq = 0n;
    this.release(message.frames);
    for (const held of this.held) this.transmit(held);
    if (this.closeMessage) this.sendClose();
  }

  received(message: DaemonMessage): void {
    if (message.t === 'ack' && message.epoch === this.epoch) {
      this.release(message.frames);
      this.stalled = null;
    } else if (message.t === 'stalled') {
      this.stalled = message.msg;
    } else if (message.t === 'closed') {
      this.stats = message.stats;
    } else if (message.t === 'error') {
      this.refused(message);
    }
  }

  fail(error: UscopeError): void {
    this.failure ??= error;
  }

  private refused(message: ErrorMessage): void {
    if (message.epoch !== undefined && message.epoch !== this.epoch) return;
    if (message.retry) {
      if (!this.attached) return;
      this.detach();
      this.link.reopen(this, message.code === 'BRIDGE_UNKNOWN_TRACE');
    } else {
      this.fail(remoteError(message));
    }
  }

  private async wait(): Promise<void> {
    if (this.failure) throw this.failure;
    await this.link.change();
  }

  private transmit(held: Held): void {
    const { trace, epoch } = this;
    const { firstFrame, payload } = held;
    const flags = held.continues ? CONTINUES : 0;
    const payloadSize = payload.length;
    const header = encodeDataHeader({ flags, trace, epoch, seq: this.seq++, firstFrame, payloadSize });
    this.link.data(header, payload);
  }

  private sendClose(): void {
    if (this.closeMessage && this.attached) this.link.control({ ...this.closeMessage, trace: this.trace });
  }

  private release(durable: bigint): void {
    if (durable > this.durableFrames) this.durableFrames = durable;
    const keep = this.held.findIndex(({ lastFrame }) => lastFrame >= this.durableFrames);
    for (const { payload } of this.held.splice(0, keep < 0 ? this.held.length : keep)) {
      this.heldBytes -= payload.length;
    }
  }

  /** Walks the records once, to know which frames they belong to. */
  private describe(payload: Uint8Array): Held {
    const words = payloadWords(payload);
    const firstFrame = this.frames;
    const continues = this.inFrame;
    let lastFrame = firstFrame;
    for (let at = 0; at < words.length; at += recordLength(words, at)) {
      const kind = words[at] & 0xff;
      lastFrame = this.frames;
      if (kind === RecordKind.BEGIN) this.inFrame = true;
      else if (kind === RecordKind.END) {
        this.inFrame = false;
        this.frames++;
      } else if (kind === RecordKind.STRING) this.strings++;
    }
    return { payload, firstFrame, lastFrame, continues };
  }
}
