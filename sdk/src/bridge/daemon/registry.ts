/** The daemon's sessions: which there are, which file each writes, and how one comes to be. */
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { CompressionName, DutProperties, Schema } from '../../format/types.js';
import type { ParsedSchema } from '../../schema/index.js';
import {
  DEFAULT_CHECKPOINT_INTERVAL_PS,
  openNodeOutput,
  type SummarizerFactory,
  type WriterOptions,
} from '../../writer/index.js';
import { lockedOutput } from '../../writer/output/locked-output.js';
import type { PathLock } from '../../writer/output/path-lock.js';
import { smallInterval } from '../../writer/small.js';
import type { MemoryAccount } from '../memory/memory-account.js';
import { RecordsGrant } from '../memory/records-grant.js';
import { type Durability, paceOf } from '../session/durability.js';
import { Session, type SessionEvents } from '../session/session.js';
import { fileSinks, NO_SCHEMA, type SinkFactory, type TraceSink } from '../session/sink.js';
import { NO_CORE, type OpenMessage } from '../wire/protocol.js';
import type { Peer } from './fair-queue.js';
import type { Orphan } from './orphans.js';
import { type RunIdentity, runProperties } from './run-identity.js';
import { SchemaReader } from './schema-reader.js';
import { traceFilePath } from './trace-name.js';

/** Ended sessions that are remembered, for clients that did not hear of the end. */
const MAX_ENDED = 256;

export interface RegistryOptions {
  readonly outputDirectory: string;
  /** Schema text for clients that send none. */
  readonly schema?: { readonly text: string; readonly file: string } | undefined;
  readonly compression?: CompressionName | undefined;
  /** Smallest files: ZSTD, half the checkpoints that clients ask for, and a coarse summary. */
  readonly small?: boolean | undefined;
  /** For clients that ask for no interval. */
  readonly checkpointIntervalPs?: bigint | undefined;
  /** Sessions open at a time. */
  readonly maxTraces: number;
  /** Most bytes a client may have unacknowledged. */
  readonly maxCreditBytes: number;
  /** What all peers together may cost. */
  readonly memory: MemoryAccount;
  readonly summarizer?: SummarizerFactory | undefined;
  /** Makes the index of the traces; default: none. */
  readonly index?: WriterOptions['index'];
  /** A full disk: wait for room (default), or give the trace up. */
  readonly onFull?: WriterOptions['onFull'];
  /** When what is acknowledged is synced; default: before. */
  readonly durability?: Durability | undefined;
  readonly sinks?: SinkFactory | undefined;
}

export interface RegistryEvents extends SessionEvents {
  onOpen(session: Session, schema: Schema, resumed: boolean): void;
  /** Whether the client of a session is known to have ended. */
  isAbandoned(session: Session): Promise<boolean>;
  /** Who writes a session, for messages. */
  holderOf(session: Session): string;
}

export class Registry {
  private readonly sessions = new Map<string, Session>();
  private readonly byPath = new Map<string, Session>();
  /** Opens for one path happen one after the other. */
  private readonly turns = new Map<string, Promise<unknown>>();
  /** Sessions that are about to be: opens for different files run at the same time. */
  private starting = 0;
  private readonly locks = new Map<Session, PathLock>();
  private readonly sinks: SinkFactory;
  private readonly schemas: SchemaReader;

  constructor(
    private readonly options: RegistryOptions,
    private readonly events: RegistryEvents,
  ) {
    this.sinks = options.sinks ?? fileSinks;
    this.schemas = new SchemaReader(options.memory);
  }

  /** @throws UscopeError SCHEMA_* when the schema for clients that send none is wrong */
  async checkDefaultSchema(): Promise<void> {
    const { schema } = this.options;
    if (!schema) return;
    await this.schemas.read({ ...schema, variables: { core: '0' } }, { process: '', connection: '' });
  }

  /** No trace is opened any more; those whose schema is not read yet are refused. */
  refuseOpens(): void {
    this.schemas.close();
  }

  get(sessionId: Uint8Array): Session | undefined {
    return this.sessions.get(key(sessionId));
  }

  /** Sessions that are not over. */
  open(): Session[] {
    return [...this.sessions.values()].filter((session) => !session.isEnded);
  }

  /** Those that are, as far as they are remembered. */
  ended(): Session[] {
    return [...this.sessions.values()].filter((session) => session.isEnded);
  }

  /**
   * The session that an `open` asks for: one known here, one continued from its file, or a new one, which is part of the `run`.
   * @throws UscopeError BRIDGE_NAME, BRIDGE_NAME_BUSY, BRIDGE_NO_SCHEMA, BRIDGE_LIMIT, BRIDGE_NO_MEMORY, SCHEMA_*, WRITER_*
   */
  async find(message: OpenMessage, run: RunIdentity, peer: Peer): Promise<Session> {
    const path = await traceFilePath(this.options.outputDirectory, message.name);
    return this.inTurn(path, async () => {
      const known = this.get(message.session);
      if (known) return sameTrace(known, message.name);
      await this.makeRoom(path, message);
      return this.start(path, message, run, peer);
    });
  }

  /**
   * Finalizes the trace of a client that ended while no daemon was there, with what is still in its memory. Resolves when that is
   * done; at once when the file is not of that session, or another has taken what was left.
   * @throws UscopeError WRITER_*, FORMAT_*: nothing is known of the session then, so that it can be tried again
   */
  async adopt({ sessionId, name, path, isLeft }: Orphan): Promise<void> {
    await this.inTurn(path, async () => {
      if (this.get(sessionId)) return;
      const { summarizer, index, onFull = 'wait', memory } = this.options;
      const grant = memory.open(`the trace "${name}", left by another daemon,`);
      const session = new Session({ id: sessionId, name, intervalPs: 0n, credit: 0, grant }, this.events);
      const isThere = await this.attachSink(session, path, async (lock) => {
        const options: WriterOptions = {
          path,
          schema: NO_SCHEMA,
          sessionId,
          summarizer,
          index,
          onFull,
          openOutput: lockedOutput(openNodeOutput, lock),
          budget: grant,
          onFailure: (error) => session.onFailure(error),
        };
        return [isLeft() ? await this.sinks.resume(options) : null, true];
      });
      if (!isThere) return;
      this.remember(session, path);
      await session.finalize(SessionStatus.RECOVERED, clientLost());
      if (session.failure === null) return;
      this.forget(session);
      throw session.failure;
    });
  }

  /** Drops what is remembered of the sessions that ended first, and returns them. */
  forgetEnded(): Session[] {
    const ended = this.ended();
    const dropped = ended.slice(0, Math.max(0, ended.length - MAX_ENDED));
    for (const session of dropped) this.forget(session);
    return dropped;
  }

  private forget(session: Session): void {
    this.sessions.delete(key(session.init.id));
    if (this.byPath.get(session.stats.path) === session) this.byPath.delete(session.stats.path);
  }

  /** Files that are not finalized are for the next daemon. */
  unlockAll(): void {
    for (const session of this.locks.keys()) this.unlock(session);
  }

  private unlock(session: Session): void {
    this.locks.get(session)?.release();
    this.locks.delete(session);
  }

  private async inTurn<T>(path: string, action: () => Promise<T>): Promise<T> {
    const before = this.turns.get(path);
    const turn = (before ?? Promise.resolve()).then(action, action);
    this.turns.set(path, turn);
    try {
      return await turn;
    } finally {
      if (this.turns.get(path) === turn) this.turns.delete(path);
    }
  }

  /** Waits for a session that is ending, ends one whose client is gone, and refuses to disturb any other. */
  private async makeRoom(path: string, message: OpenMessage): Promise<void> {
    const holder = this.byPath.get(path);
    if (!holder || holder.isEnded) return;
    if (holder.isEnding) return holder.ended;
    if (await this.events.isAbandoned(holder))
      return holder.finalize(SessionStatus.CLIENT_LOST, clientLost());
    throw nameBusy(message, this.events.holderOf(holder), holder.init.core, path);
  }

  private async start(path: string, message: OpenMessage, run: RunIdentity, peer: Peer): Promise<Session> {
    const { options } = this;
    if (this.open().length + this.starting >= options.maxTraces) {
      throw new UscopeError(
        'BRIDGE_LIMIT',
        `${options.maxTraces} traces are open; this daemon allows no more (--max-traces)`,
      );
    }
    this.starting++;
    try {
      return await this.begin(path, message, run, peer);
    } finally {
      this.starting--;
    }
  }

  private async begin(path: string, message: OpenMessage, run: RunIdentity, peer: Peer): Promise<Session> {
    const { options } = this;
    const parsed = await this.schemaOf(message, peer);
    const core = coreOf(message);
    const dut = mergeDut(mergeDut(parsed.dut, message.dut ?? []), runProperties(run, core));
    const intervalPs = this.intervalOf(message);
    const credit = Math.min(message.credit, options.maxCreditBytes);
    const { session: id, name } = message;
    const pace = paceOf(options.durability ?? { mode: 'segment' });
    const grant = options.memory.open(`the trace "${name}"`);
    const records = new RecordsGrant(options.memory, name, credit);
    // Before there is a file: it costs nothing to be refused.
    if (message.memory !== true) await records.reserveEarly();
    const session = new Session({ id, name, core, intervalPs, credit, pace, grant, records }, this.events);
    const writerOptions: WriterOptions = {
      path,
      schema: parsed.schema,
      dut,
      checkpointIntervalPs: intervalPs,
      compression: options.small ? 'zstd' : options.compression,
      coarseSummary: options.small,
      sessionId: id,
      runId: run.id,
      coreIndex: message.core,
      summarizer: options.summarizer,
      index: options.index,
      creditBytes: credit,
      onFull: options.onFull ?? 'wait',
      budget: grant,
      onFailure: (error) => session.onFailure(error),
      onDurable: (frames, strings) => session.onDurable(frames, strings),
      onStall: (error) => session.onStall(error),
    };
    await this.attachSink(session, path, async (lock) => {
      const locked = { ...writerOptions, openOutput: lockedOutput(pace.openOutput, lock) };
      const continued = await this.sinks.resume(locked);
      return [continued ?? (await this.sinks.create(locked)), continued !== null];
    });
    this.remember(session, path);
    return session;
  }

  /** ps: what the client asks for, else the daemon's default. Small files have fewer checkpoints, unless the operator said how many. */
  private intervalOf({ interval_ps }: OpenMessage): bigint {
    const { checkpointIntervalPs, small } = this.options;
    if (!interval_ps && checkpointIntervalPs) return checkpointIntervalPs;
    const intervalPs = interval_ps || DEFAULT_CHECKPOINT_INTERVAL_PS;
    return small ? smallInterval(intervalPs) : intervalPs;
  }

  private remember(session: Session, path: string): void {
    this.sessions.set(key(session.init.id), session);
    this.byPath.set(path, session);
  }

  /** Gives a session its writer, and the file to nobody else until the session is over. False: `open` found no file. */
  private async attachSink(
    session: Session,
    path: string,
    open: (lock: PathLock | undefined) => Promise<readonly [sink: TraceSink | null, resumed: boolean]>,
  ): Promise<boolean> {
    let lock: PathLock | undefined;
    try {
      lock = await this.sinks.lock?.(path);
      const [sink, resumed] = await open(lock);
      if (sink === null) {
        session.releaseMemory();
        lock?.release();
        return false;
      }
      if (lock) this.locks.set(session, lock);
      session.attach(sink, resumed, () => this.unlock(session));
      this.events.onOpen(session, sink.schema, resumed);
      return true;
    } catch (error) {
      session.releaseMemory();
      lock?.release();
      throw error;
    }
  }

  private async schemaOf(message: OpenMessage, peer: Peer): Promise<ParsedSchema> {
    const variables = variablesOf(message);
    return this.schemas.read({ ...this.schemaText(message), variables, sha256: message.schema_sha256 }, peer);
  }

  private schemaText(message: OpenMessage): { readonly text: string; readonly file: string } {
    if (message.schema !== undefined) {
      return { text: message.schema, file: message.schema_name ?? 'schema of the client' };
    }
    if (this.options.schema) return this.options.schema;
    throw new UscopeError(
      'BRIDGE_NO_SCHEMA',
      `the trace "${message.name}" came without a schema; open it with one, or give "uscope run" or "uscope serve" one with --schema FILE`,
    );
  }
}

/** `core` comes with the core index, unless it is given as a variable. */
function variablesOf(message: OpenMessage): Record<string, string> {
  const core = coreOf(message);
  return { ...(core === undefined ? {} : { core: String(core) }), ...Object.fromEntries(message.vars ?? []) };
}

function coreOf({ core }: OpenMessage): number | undefined {
  return core === NO_CORE ? undefined : core;
}

/** Names both sides: usually they are two cores of one model that were given the same name. */
function nameBusy(
  message: OpenMessage,
  holder: string,
  holderCore: number | undefined,
  path: string,
): UscopeError {
  const core = coreOf(message);
  const asks = core === undefined ? 'a second open' : `core ${core}`;
  const writes = holderCore === undefined ? holder : `core ${holderCore} of ${holder}`;
  const advice =
    core === undefined && holderCore === undefined
      ? 'choose another name, or wait for its end'
      : 'give each core a different name, or wait for its end';
  return new UscopeError(
    'BRIDGE_NAME_BUSY',
    `${asks} asks for the trace "${message.name}", which ${writes} is writing; ${advice}`,
    { file: path },
  );
}

export function clientLost(): UscopeError {
  return new UscopeError('BRIDGE_CLIENT_LOST', "the client's process ended without closing the trace");
}

function key(sessionId: Uint8Array): string {
  return Buffer.from(sessionId).toString('hex');
}

function sameTrace(session: Session, name: string): Session {
  if (session.init.name === name) return session;
  throw new UscopeError(
    'BRIDGE_MESSAGE',
    `the session writes the trace "${session.init.name}", not "${name}"`,
  );
}

/** Properties of the client added to those of the schema; on the same key the client's wins. */
function mergeDut(schema: DutProperties, client: DutProperties): DutProperties {
  const merged = new Map(schema);
  for (const [name, value] of client) merged.set(name, value);
  return [...merged];
}
