/** A bridge client in TypeScript, for tests of the daemon. */
import { Dealer } from 'zeromq';
import { UscopeError } from '../../../sdk/src/base/errors.js';
import { decodeDaemonMessage, encodeControl } from '../../../sdk/src/bridge/wire/codec.js';
import { DEFAULT_CREDIT_BYTES } from '../../../sdk/src/bridge/wire/constants.js';
import { checkDescriptors } from '../../../sdk/src/bridge/wire/descriptors.js';
import type { ClientKeys } from '../../../sdk/src/bridge/wire/key-files.js';
import {
  type ClientMessage,
  type DaemonMessage,
  type OpenMessage,
  PROTOCOL_VERSION,
} from '../../../sdk/src/bridge/wire/protocol.js';
import { remoteError } from '../../../sdk/src/bridge/wire/session-error.js';
import { newSessionKey } from '../../../sdk/src/bridge/wire/session-secret.js';
import { checkPlace } from '../../../sdk/src/bridge/wire/trusted-place.js';
import { PRODUCT } from '../../../sdk/src/bridge/wire/version.js';
import { processStart } from '../../../sdk/src/writer/output/process-name.js';
import { ClientTrace } from './trace.js';

export interface ClientOptions {
  /** A daemon that answers nothing for this long counts as lost; default 30,000 ms. */
  readonly timeoutMs?: number | undefined;
  /** For a daemon that lets only listed keys in. */
  readonly keys?: ClientKeys | undefined;
}

export interface TraceRequest {
  readonly name: string;
  /** 32 bytes that nobody else has; random by default. The session's id is made from them. */
  readonly secret?: Uint8Array | undefined;
  readonly schema?: string | undefined;
  readonly schemaName?: string | undefined;
  readonly dut?: OpenMessage['dut'];
  readonly intervalPs?: bigint | undefined;
  /** Bytes this side is able to hold; default 32 MiB. */
  readonly credit?: number | undefined;
  readonly run?: Uint8Array | undefined;
  readonly core?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const TICK_MS = 200;
const PING_MS = 1000;

export class BridgeClient {
  /** Resolves when the daemon has answered. @throws UscopeError BRIDGE_NO_DAEMON, BRIDGE_VERSION, BRIDGE_ENDPOINT, ENV_DESCRIPTORS */
  static async connect(endpoint: string, options: ClientOptions = {}): Promise<BridgeClient> {
    checkPlace(endpoint);
    checkDescriptors();
    const client = new BridgeClient(endpoint, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, options.keys);
    try {
      while (!client.welcomed) await client.change();
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  private readonly dealer: Dealer;
  private readonly opens = new Map<ClientTrace, OpenMessage>();
  private readonly pending = new Map<number, ClientTrace>();
  private readonly outgoing: Uint8Array[][] = [];
  private readonly timer: NodeJS.Timeout;
  private waiters: (() => void)[] = [];
  private sending = false;
  private welcomed = false;
  private everWelcomed = false;
  private failure: UscopeError | null = null;
  private lastHeard = performance.now();
  private lastPing = 0;
  private nextReq = 1;

  private constructor(
    private readonly endpoint: string,
    private readonly timeoutMs: number,
    keys?: ClientKeys,
  ) {
    this.dealer = new Dealer({
      immediate: true,
      linger: 0,
      sendHighWaterMark: 0,
      receiveHighWaterMark: 0,
      reconnectInterval: 50,
      reconnectMaxInterval: 500,
      ...(keys && {
        curveServerKey: keys.serverKey,
        curvePublicKey: keys.publicKey,
        curveSecretKey: keys.secretKey,
      }),
    });
    this.dealer.events.on('disconnect', () => this.disconnected());
    this.dealer.connect(endpoint);
    void this.receiveAll();
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.hello();
  }

  /** Opens a trace; the daemon has created its file when it resolves. @throws UscopeError what the daemon refused it with, BRIDGE_LOST */
  async open(request: TraceRequest): Promise<ClientTrace> {
    const { session, secret } = newSessionKey(request.secret);
    const trace = new ClientTrace(
      {
        control: (message) => this.control(message),
        data: (header, payload) => this.send([header, payload]),
        reopen: (again, unknown) => (unknown ? this.startOver() : this.reopen(again)),
        forget: (closed) => this.opens.delete(closed),
        change: () => this.change(),
      },
      session,
    );
    const { name, schema, schemaName, dut, intervalPs, credit = DEFAULT_CREDIT_BYTES, run, core } = request;
    this.opens.set(trace, {
      t: 'open',
      req: 0,
      name,
      session,
      schema,
      schema_name: schemaName,
      dut,
      interval_ps: intervalPs,
      credit,
      run,
      core,
      secret,
    });
    this.reopen(trace);
    while (!trace.isOpen) {
      if (trace.failure) throw trace.failure;
      await this.change();
    }
    return trace;
  }

  /** Ends the connection. Traces that are not closed stay open in the daemon. */
  close(): void {
    clearInterval(this.timer);
    this.failure ??= new UscopeError('BRIDGE_LOST', 'the connection is closed');
    this.dealer.close();
    this.wake();
  }

  /** Resolves when something has come in. @throws UscopeError BRIDGE_NO_DAEMON, BRIDGE_LOST, BRIDGE_VERSION */
  private async change(): Promise<void> {
    if (this.failure) throw this.failure;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
    if (this.failure) throw this.failure;
  }

  private wake(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  // -- incoming

  private async receiveAll(): Promise<void> {
    for await (const [bytes] of this.dealer) {
      this.lastHeard = performance.now();
      try {
        this.dispatch(decodeDaemonMessage(bytes));
      } catch (error) {
        this.failure ??= error as UscopeError;
      }
      this.wake();
    }
  }

  private dispatch(message: DaemonMessage): void {
    if (message.t === 'welcome') {
      this.greeted();
    } else if (message.t === 'opened' || (message.t === 'error' && message.req !== undefined)) {
      const trace = this.pending.get(message.req!);
      this.pending.delete(message.req!);
      if (message.t === 'opened') trace?.opened(message);
      else trace?.fail(remoteError(message));
    } else if (message.t === 'error' && message.trace === undefined) {
      this.failure ??= remoteError(message);
    } else if ('trace' in message && message.trace !== undefined) {
      for (const trace of this.opens.keys()) if (trace.number === message.trace) trace.received(message);
    }
  }

  private greeted(): void {
    // The library connects as soon as somebody listens, who may have come after the first look.
    if (this.welcomed || !checkPlace(this.endpoint)) return;
    this.welcomed = true;
    this.everWelcomed = true;
    for (const trace of this.opens.keys()) this.reopen(trace);
  }

  /** What was queued belongs to the lost connection: the traces send it again when they are open. */
  private disconnected(): void {
    this.welcomed = false;
    this.outgoing.length = 0;
    this.pending.clear();
    for (const trace of this.opens.keys()) trace.detach();
  }

  /** The daemon is another one than the one that said welcome. */
  private startOver(): void {
    this.disconnected();
    this.hello();
  }

  // -- outgoing

  private hello(): void {
    const start = processStart(process.pid) ?? 0n;
    this.control({ t: 'hello', v: PROTOCOL_VERSION, client: PRODUCT, pid: process.pid, start });
  }

  /** Without a connection nothing is asked: `greeted` asks for all traces. */
  private reopen(trace: ClientTrace): void {
    const open = this.opens.get(trace);
    if (!open || !this.welcomed || trace.failure) return;
    const message = { ...open, req: this.nextReq++ };
    this.pending.set(message.req, trace);
    this.control(message);
  }

  private tick(): void {
    const now = performance.now();
    const waiting = this.waiters.length > 0;
    if (!waiting) this.lastHeard = now;
    else if (now - this.lastHeard > this.timeoutMs) this.timedOut();
    if (!this.welcomed && !this.sending) this.hello();
    else if (waiting && now - this.lastPing >= PING_MS && !this.sending) {
      this.lastPing = now;
      this.control({ t: 'ping' });
    }
  }

  private timedOut(): void {
    const silence = `no daemon answers at ${this.endpoint} within ${this.timeoutMs} ms`;
    this.failure ??= this.everWelcomed
      ? new UscopeError('BRIDGE_LOST', `${silence}: it was lost and did not come back`)
      : new UscopeError('BRIDGE_NO_DAEMON', `${silence}; start one with "uscope serve"`);
    this.wake();
  }

  private control(message: ClientMessage): void {
    this.send([encodeControl(message)]);
  }

  private send(parts: Uint8Array[]): void {
    this.outgoing.push(parts);
    if (!this.sending) void this.drain();
  }

  private async drain(): Promise<void> {
    this.sending = true;
    for (let parts = this.outgoing.shift(); parts; parts = this.outgoing.shift()) {
      if (this.dealer.closed) continue;
      try {
        await this.dealer.send(
          parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)),
        );
      } catch (error) {
        if (!this.dealer.closed) throw error;
      }
    }
    this.sending = false;
  }
}
