/** The daemon: a ROUTER socket, what comes in through it, and who gets an answer. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Router } from 'zeromq';
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import { locksSettled } from '../../writer/output/lock-file.js';
import { isRunning } from '../../writer/output/process-name.js';
import { removeStaleLocks } from '../../writer/output/stale-locks.js';
import { type MemoryBound, memoryBound } from '../memory/machine-memory.js';
import { MemoryAccount } from '../memory/memory-account.js';
import type { Session } from '../session/session.js';
import type { SessionLink } from '../session/session-init.js';
import { decodeClientMessage, encodeControl } from '../wire/codec.js';
import { Gatekeeper } from '../wire/curve.js';
import { decodeDataHeader, isDataHeader, peekTrace } from '../wire/data-header.js';
import { checkDescriptors } from '../wire/descriptors.js';
import { bindEndpoint, removeSocket } from '../wire/endpoint.js';
import type { ServerKeys } from '../wire/key-files.js';
import {
  type CloseMessage,
  type CtlMessage,
  type DaemonMessage,
  MAX_CONTROL_BYTES,
  type OpenMessage,
  PROTOCOL_VERSION,
} from '../wire/protocol.js';
import { type WireError, wireError } from '../wire/session-error.js';
import { checkOwner } from '../wire/session-secret.js';
import { PRODUCT } from '../wire/version.js';
import { type Connection, Connections } from './connections.js';
import { Controls } from './controls.js';
import { type OrphanState, Orphans } from './orphans.js';
import { Outbox } from './outbox.js';
import { clientLost, Registry, type RegistryOptions } from './registry.js';
import { type RunIdentity, Runs } from './run-identity.js';
import { outputRoot } from './trace-name.js';

export interface DaemonOptions extends Partial<Omit<RegistryOptions, 'memory'>> {
  readonly endpoint: string;
  readonly outputDirectory: string;
  /** A tcp endpoint that only clients with these keys may use. */
  readonly keys?: ServerKeys | undefined;
  readonly events?: DaemonEvents | undefined;
  /** Bytes that all peers together may cost, as far as the process can get them; default: a share of the machine's memory. */
  readonly maxMemoryBytes?: number | undefined;
  /** The run that this daemon is for: of clients that name none. */
  readonly run?: RunIdentity | null | undefined;
}

export interface DaemonEvents {
  onOpen?(session: Session, schema: Schema, resumed: boolean): void;
  onStall?(session: Session, error: UscopeError | null): void;
  onEnd?(session: Session): void;
  /**
   * A trace was not opened.
   * @param orphan it is what a client that has ended left: `waiting`, it cannot be finalized yet; `left`, this daemon does not finalize it
   */
  onTrouble?(name: string, error: WireError, orphan?: OrphanState): void;
}

const DEFAULT_MAX_TRACES = 1024;
const DEFAULT_MAX_CREDIT = 64 * 1024 * 1024;
const DEATH_WATCH_MS = 1000;
/**
 * Messages of one peer that wait here. A peer that sends faster is slowed down by its own socket, one that does not read its answers loses
 * some: an honest client has few under way, and asks again.
 */
const MAX_MESSAGES_IN = 64;
const MAX_MESSAGES_OUT = 1000;
const MESSAGE_SLACK = 64 * 1024;
/** Bytes of `open` messages that are being answered, of one connection and of all; more are refused. */
const MAX_OPENING_BYTES = 64 * 1024 * 1024;
const MAX_OPENING_BYTES_OF_ALL = 4 * MAX_OPENING_BYTES;
/** From outside (`ctl`), at a time. */
const MAX_COMMANDS = 256;
/** Bytes taken in before timers, files and other sockets get their turn. */
const BYTES_PER_TURN = 1024 * 1024;
/** Before the end: how long nothing may have come, and how long that is waited for. */
const QUIET_MS = 60;
const MAX_QUIET_WAIT_MS = 1500;

/**
 * How long a closed socket keeps what its peers have not read. Clearly less than the 500 ms after which the message library complains on
 * stderr; who reads at all has had the time of `Outbox.flushed` before.
 */
const LINGER_MS = 200;

export class Daemon {
  /** @throws UscopeError BRIDGE_ENDPOINT, ENV_DESCRIPTORS, WRITER_DIRECTORY, SCHEMA_* */
  static async start(options: DaemonOptions): Promise<Daemon> {
    checkDescriptors();
    const daemon = new Daemon(options);
    try {
      await daemon.registry.checkDefaultSchema();
      void removeStaleLocks(await outputRoot(options.outputDirectory));
      await daemon.orphans.scan();
      await daemon.gatekeeper?.start();
      daemon.endpoint = await bindEndpoint(daemon.router, options.endpoint, options.keys !== undefined);
    } catch (error) {
      daemon.closeSockets();
      throw error;
    }
    // Before the first message is taken: who opens a trace at the same path waits for this.
    daemon.orphans.adoptDue();
    daemon.loop = daemon.receiveAll();
    daemon.watch = setInterval(() => daemon.watchClients(), DEATH_WATCH_MS);
    return daemon;
  }

  /** Where it listens, with the port chosen. */
  endpoint = '';

  private readonly gatekeeper: Gatekeeper | null;
  private readonly router: Router;
  private readonly outbox: Outbox;
  private readonly connections = new Connections();
  private readonly orphans: Orphans;
  readonly memoryBound: MemoryBound;
  /** What peers cost. */
  readonly memory: MemoryAccount;
  private readonly registry: Registry;
  private readonly runs: Runs;
  /** The connection that each session was opened on last. */
  private readonly owners = new WeakMap<Session, Connection>();
  private readonly controls = new Controls(
    () => this.sessions,
    (session) => this.isGone(session),
  );
  private loop: Promise<void> = Promise.resolve();
  private watch: NodeJS.Timeout | undefined;
  private openingBytes = 0;
  /** From outside, that are being carried out. */
  private commands = 0;
  private lastReceived = 0;
  private nextTrace = 1;
  // Not the numbers of a daemon before this one: what was meant for that one must not fit here.
  private nextEpoch = randomBytes(4).readUInt32LE();

  private readonly events: DaemonEvents;

  private constructor(options: DaemonOptions) {
    const { events = {}, keys, run = null } = options;
    this.runs = new Runs(run);
    this.events = events;
    this.gatekeeper = keys ? new Gatekeeper(keys) : null;
    this.router = new Router({
      linger: LINGER_MS,
      sendHighWaterMark: MAX_MESSAGES_OUT,
      receiveHighWaterMark: MAX_MESSAGES_IN,
      maxMessageSize: MAX_CONTROL_BYTES + MESSAGE_SLACK,
      ...this.gatekeeper?.options,
    });
    this.outbox = new Outbox(this.router);
    this.orphans = new Orphans(options.outputDirectory, {
      adopt: (orphan) => this.registry.adopt(orphan),
      isKnown: (sessionId) => this.registry.get(sessionId) !== undefined,
      onTrouble: (name, error, state) => events.onTrouble?.(name, wireError(error), state),
    });
    this.memoryBound = memoryBound(options.maxMemoryBytes);
    this.memory = new MemoryAccount(this.memoryBound.bytes);
    this.registry = new Registry(
      {
        maxTraces: DEFAULT_MAX_TRACES,
        maxCreditBytes: DEFAULT_MAX_CREDIT,
        ...options,
        memory: this.memory,
      },
      {
        onOpen: (session, schema, resumed) => events.onOpen?.(session, schema, resumed),
        onStall: (session, error) => events.onStall?.(session, error),
        onEnd: (session) => {
          events.onEnd?.(session);
          for (const forgotten of this.registry.forgetEnded()) this.unlink(forgotten);
        },
        isAbandoned: (session) => this.isAbandoned(session),
        holderOf: (session) => this.holderOf(session),
      },
    );
  }

  /** Sessions that are not over. */
  get sessions(): Session[] {
    return this.registry.open();
  }

  /**
   * Finalizes every open trace, after everything on its way has been received, and notifies their clients.
   * @param status of the sessions whose clients have not closed them
   */
  async finalize(status: SessionStatus = SessionStatus.CLIENT_LOST): Promise<void> {
    this.registry.refuseOpens();
    await this.quiet();
    await this.orphans.settle();
    const reason = new UscopeError(
      'BRIDGE_FINALIZED',
      'the daemon was asked to finalize its traces; the file holds what had arrived',
    );
    await Promise.all(
      this.sessions.map((session) => session.finalize(status, reason, this.mayReturn(session))),
    );
    await Promise.all(this.registry.ended().map((session) => session.settle()));
  }

  /** Its client runs on, and may find the next daemon. */
  private mayReturn(session: Session): boolean {
    const { process = null } = this.owners.get(session) ?? {};
    return process !== null && isRunning(process);
  }

  /** Stops waiting for disk space, in every trace. */
  abortWaiting(): void {
    for (const session of this.sessions) session.abortWaiting();
  }

  /** Closes the socket. Traces that are open stay unfinalized: call `finalize` first. */
  async stop(): Promise<void> {
    clearInterval(this.watch);
    await this.outbox.flushed();
    this.closeSockets();
    this.registry.unlockAll();
    await locksSettled();
    removeSocket(this.endpoint);
    await this.loop;
  }

  private closeSockets(): void {
    this.registry.refuseOpens();
    this.orphans.close();
    this.router.close();
    this.gatekeeper?.close();
  }

  // -- incoming

  private async receiveAll(): Promise<void> {
    let bytes = 0;
    try {
      for (;;) {
        const parts = await this.router.receive();
        this.lastReceived = performance.now();
        bytes += this.dispatch(parts);
        if (bytes < BYTES_PER_TURN) continue;
        bytes = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      if (!this.router.closed) throw error;
    }
  }

  /** Returns the bytes of records and messages this was about, wherever they are. */
  private dispatch(parts: readonly Buffer[]): number {
    const { 0: routingId, 1: first, 2: second } = parts; // no iterator, once per message
    try {
      if (parts.length > 3 || !first)
        throw new UscopeError('BRIDGE_MESSAGE', 'a message has one or two parts');
      if (second) return this.takeData(routingId, first, second);
      if (isDataHeader(first)) return this.takeData(routingId, first, null);
      this.takeControl(routingId, first);
      return first.length;
    } catch (error) {
      this.sendError(routingId, error);
      return BYTES_PER_TURN;
    }
  }

  private takeData(routingId: Buffer, headerBytes: Buffer, payload: Buffer | null): number {
    const connection = this.connections.get(routingId);
    const named = peekTrace(headerBytes);
    const session = named ? connection?.traces.get(named.trace) : undefined;
    if (!session) {
      if (named) this.refuseUnknown(routingId, connection, named.trace, named.epoch);
      else decodeDataHeader(headerBytes, payload?.length ?? null);
      return headerBytes.length + (payload?.length ?? 0);
    }
    try {
      const header = decodeDataHeader(headerBytes, payload?.length ?? null);
      session.receive(header, payload);
      return header.payloadSize;
    } catch (error) {
      session.receiveMalformed(error as UscopeError);
      return BYTES_PER_TURN;
    }
  }

  private refuseUnknown(
    routingId: Buffer,
    connection: Connection | null,
    trace: number,
    epoch: number,
  ): void {
    if (connection?.unknownTraces.has(trace)) return;
    if (connection && connection.unknownTraces.size < DEFAULT_MAX_TRACES) connection.unknownTraces.add(trace);
    this.sendUnknown(routingId, trace, epoch);
  }

  private sendUnknown(routingId: Buffer, trace: number, epoch?: number): void {
    const msg = `no trace ${trace} is open on this connection; say hello and open it again`;
    this.send(routingId, { t: 'error', trace, epoch, code: 'BRIDGE_UNKNOWN_TRACE', msg, retry: true });
  }

  private takeControl(routingId: Buffer, bytes: Buffer): void {
    const message = decodeClientMessage(bytes);
    if (message.t === 'ping') {
      this.connections.get(routingId);
      this.send(routingId, { t: 'pong' });
    } else if (message.t === 'hello') {
      this.connections.greet(routingId, message).unknownTraces.clear();
      this.send(routingId, { t: 'welcome', v: PROTOCOL_VERSION, daemon: PRODUCT, pid: process.pid });
    } else if (message.t === 'open') {
      void this.open(routingId, message, bytes.length);
    } else if (message.t === 'controlled') {
      const session = this.connections.get(routingId)?.traces.get(message.trace);
      if (session?.link?.epoch === message.epoch) session.control.controlled(message);
    } else if (message.t === 'ctl') {
      void this.ctl(Buffer.from(routingId), message);
    } else if (message.t === 'flush') {
      this.connections.get(routingId)?.traces.get(message.trace)?.flush(message.epoch);
    } else {
      this.close(routingId, message);
    }
  }

  private async open(routingId: Buffer, message: OpenMessage, size: number): Promise<void> {
    const connection = this.connections.get(routingId);
    this.openingBytes += size;
    if (connection) connection.openingBytes += size;
    try {
      if (!connection) throw new UscopeError('BRIDGE_MESSAGE', 'open came before hello');
      this.checkOpening(connection);
      checkOwner(message, this.endpoint.startsWith('ipc://'));
      const session = await this.registry.find(
        message,
        this.runs.of(message.run, connection),
        connection.peer,
      );
      session.open(message.req, this.link(connection, session), message.memory === true);
    } catch (error) {
      this.sendError(routingId, error, message.req);
      this.events.onTrouble?.(message.name, wireError(error));
    } finally {
      this.openingBytes -= size;
      if (connection) connection.openingBytes -= size;
    }
  }

  /** A command from outside: any peer that may open traces may give it. */
  private async ctl(routingId: Buffer, message: CtlMessage): Promise<void> {
    try {
      if (this.commands >= MAX_COMMANDS)
        throw new UscopeError('BRIDGE_LIMIT', `${MAX_COMMANDS} commands are being carried out; try again`);
      this.commands++;
      try {
        this.send(routingId, await this.controls.perform(message));
      } finally {
        this.commands--;
      }
    } catch (error) {
      this.sendError(routingId, error, message.req);
    }
  }

  private checkOpening(connection: Connection): void {
    if (connection.openingBytes <= MAX_OPENING_BYTES && this.openingBytes <= MAX_OPENING_BYTES_OF_ALL) return;
    throw new UscopeError(
      'BRIDGE_LIMIT',
      'too many traces are being opened at once; wait for some of the answers',
    );
  }

  private unlink(session: Session): number | undefined {
    const { traces } = this.owners.get(session) ?? {};
    for (const [trace, other] of traces ?? []) {
      if (other !== session) continue;
      traces?.delete(trace);
      return trace;
    }
    return undefined;
  }

  /** A new epoch, and on a new connection a new number; what another connection still sends is no longer taken. */
  private link(connection: Connection, session: Session): SessionLink {
    const before = this.unlink(session);
    const here = this.owners.get(session) === connection;
    const trace = here && before !== undefined ? before : this.nextTrace++;
    const epoch = this.nextEpoch;
    this.nextEpoch = (epoch + 1) >>> 0;
    connection.traces.set(trace, session);
    connection.unknownTraces.delete(trace);
    this.owners.set(session, connection);
    return { trace, epoch, send: (message) => this.send(connection.routingId, message) };
  }

  private close(routingId: Buffer, message: CloseMessage): void {
    const session = this.registry.get(message.session);
    const here = this.connections.get(routingId)?.traces.get(message.trace) === session;
    if (!session || !(here || session.isEnded)) {
      this.sendUnknown(routingId, message.trace);
      return;
    }
    const id = Buffer.from(routingId);
    session.close(message, (answer) => this.send(id, answer));
  }

  // -- outgoing

  private send(routingId: Buffer, message: DaemonMessage): void {
    this.outbox.send(routingId, encodeControl(message));
  }

  private sendError(routingId: Buffer, error: unknown, req?: number): void {
    const told = wireError(error);
    const v = told.code === 'BRIDGE_VERSION' ? PROTOCOL_VERSION : undefined;
    this.send(routingId, { t: 'error', req, ...told, v });
  }

  // -- clients that are gone, and the end

  private watchClients(): void {
    this.controls.sample();
    this.orphans.adoptDue();
    void this.orphans.scan();
    for (const connection of this.connections.takeDead()) {
      for (const session of connection.traces.values()) {
        if (session.isEnded) void session.settle();
        else void session.finalize(SessionStatus.CLIENT_LOST, clientLost());
      }
    }
  }

  /** Whether the process of a session's client is known to have ended. */
  private isGone(session: Session): boolean {
    const { process } = this.owners.get(session) ?? {};
    return process != null && !isRunning(process);
  }

  /** Whether the session's process has ended, and everything it sent has been taken in. */
  private async isAbandoned(session: Session): Promise<boolean> {
    const connection = this.owners.get(session);
    if (!connection?.process || isRunning(connection.process)) return false;
    while (Date.now() - connection.lastHeard < QUIET_MS) await delay(QUIET_MS / 2);
    return true;
  }

  private holderOf(session: Session): string {
    const connection = this.owners.get(session);
    return connection ? `process ${connection.pid} (${connection.client})` : 'another session';
  }

  /** What a client sent before it ended may still be in the socket. */
  private async quiet(): Promise<void> {
    const start = performance.now();
    for (;;) {
      await delay(QUIET_MS / 2);
      const now = performance.now();
      if (now - Math.max(start, this.lastReceived) >= QUIET_MS || now - start > MAX_QUIET_WAIT_MS) return;
    }
  }
}
