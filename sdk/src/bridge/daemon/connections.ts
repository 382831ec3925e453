/** Who talks to the daemon: one entry per ZeroMQ connection, with its open traces and its process. */

import { isRunning, type ProcessName } from '../../writer/output/process-name.js';
import type { Session } from '../session/session.js';
import type { HelloMessage } from '../wire/protocol.js';
import type { Peer } from './fair-queue.js';

/** Beyond this, connections without traces are forgotten, the one silent for longest first. */
const MAX_CONNECTIONS = 4096;
/** A client that was heard within this time is not looked for. */
const SILENT_MS = 1000;

export class Connection {
  readonly traces = new Map<number, Session>();
  /** Traces whose data was answered with BRIDGE_UNKNOWN_TRACE: once each is enough. */
  readonly unknownTraces = new Set<number>();
  lastHeard = Date.now();
  /** Of `open` messages that are being answered. */
  openingBytes = 0;
  /** Of its traces, when neither they nor its process name a run. */
  runId: Uint8Array | null = null;

  constructor(
    readonly routingId: Buffer,
    /** "product version", for messages. */
    readonly client: string,
    /** null when no such process was found on this machine: then its end cannot be seen either. */
    readonly process: ProcessName | null,
    /** As it says, wherever that is. */
    readonly pid: number,
  ) {}

  /** Whose turn it is, where peers have turns. */
  get peer(): Peer {
    const { process } = this;
    return {
      process: process ? `${process.pid} ${process.start}` : 'elsewhere',
      connection: this.routingId.toString('latin1'),
    };
  }
}

export class Connections {
  private readonly byId = new Map<string, Connection>();

  /** null before `hello`. */
  get(routingId: Buffer): Connection | null {
    const connection = this.byId.get(routingId.toString('latin1')) ?? null;
    if (connection) connection.lastHeard = Date.now();
    return connection;
  }

  /** A `hello`, maybe a repeated one. */
  greet(routingId: Buffer, hello: HelloMessage): Connection {
    const known = this.get(routingId);
    if (known) return known;
    const name: ProcessName = { pid: hello.pid, start: hello.start };
    const local = isRunning(name) ? name : null;
    const connection = new Connection(Buffer.from(routingId), hello.client, local, hello.pid);
    if (this.byId.size >= MAX_CONNECTIONS) this.forgetOldest();
    this.byId.set(routingId.toString('latin1'), connection);
    return connection;
  }

  /** Connections whose process has ended; they are forgotten, their traces are the caller's to finalize. */
  takeDead(): Connection[] {
    const dead: Connection[] = [];
    for (const [key, connection] of this.byId) {
      const { process } = connection;
      if (!process || Date.now() - connection.lastHeard < SILENT_MS || isRunning(process)) continue;
      this.byId.delete(key);
      dead.push(connection);
    }
    return dead;
  }

  private forgetOldest(): void {
    let oldest: [string, Connection] | null = null;
    for (const entry of this.byId) {
      if (entry[1].traces.size > 0) continue;
      if (!oldest || entry[1].lastHeard < oldest[1].lastHeard) oldest = entry;
    }
    if (oldest) this.byId.delete(oldest[0]);
  }
}
