/**
 * Traces whose clients ended while no daemon was there: the memory of a dead client (docs/reference/bridge-protocol.md#memory-of-a-local-client) and the trace file of the same
 * session are brought together again.
 *
 * A memory is a candidate from the moment it is seen until its trace is finalized, its client has come back, or it has gone. An attempt that
 * fails is repeated: the daemon that has the file may be about to end, a full disk may have room later.
 */
import { existsSync } from 'node:fs';
import { UscopeError } from '../../base/errors.js';
import { isRunning, type ProcessName } from '../../writer/output/process-name.js';
import { ClientMemory } from '../session/client-memory.js';
import { asUscopeError } from '../wire/session-error.js';
import { locateTrace } from './orphan-file.js';

export interface Orphan {
  readonly sessionId: Uint8Array;
  readonly name: string;
  readonly path: string;
  /** The memory is there: nobody else has taken what is in it. */
  isLeft(): boolean;
}

export interface OrphanEvents {
  /** Finalizes its trace. @throws why that could not be done */
  adopt(orphan: Orphan): Promise<void>;
  /** The daemon has, or has had, a session of that id. */
  isKnown(sessionId: Uint8Array): boolean;
  /** `waiting`: it will be tried again. `left`: this daemon stops trying. Each is reported once. */
  onTrouble(name: string, error: UscopeError, state: OrphanState): void;
}

export type OrphanState = 'waiting' | 'left';

interface Candidate {
  readonly sessionId: Uint8Array;
  readonly name: string;
  readonly owner: ProcessName;
  readonly memoryPath: string;
  path: string;
  /** When it is tried next (`performance.now`), and how long after that one. */
  due: number;
  pauseMs: number;
  attempt: Promise<void> | null;
  error: UscopeError | null;
  isTold: boolean;
  isGivenUp: boolean;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** Each has its own writer. */
const MAX_AT_A_TIME = 16;
const NEVER = Number.POSITIVE_INFINITY;
/** How soon a memory whose trace was not in the output directory is looked at again. */
const FOREIGN_MS = 60_000;

export class Orphans {
  /** By session id, in hex. */
  private readonly candidates = new Map<string, Candidate>();
  /** Memories that are none of ours, and when they are looked at again. */
  private readonly foreign = new Map<string, number>();
  private scanning: Promise<void> | null = null;
  private isClosed = false;

  constructor(
    private readonly outputDirectory: string,
    private readonly events: OrphanEvents,
  ) {}

  /** Looks for memories that have come since; those of other daemons' clients are none of ours. */
  scan(): Promise<void> {
    this.scanning ??= this.scanAll().finally(() => {
      this.scanning = null;
    });
    return this.scanning;
  }

  /** Begins to adopt what is due: its client has ended. */
  adoptDue(): void {
    for (const [key, candidate] of this.candidates) {
      if (this.isClosed || this.underWay.length >= MAX_AT_A_TIME) return;
      if (candidate.attempt || isRunning(candidate.owner)) continue;
      if (this.events.isKnown(candidate.sessionId))
        this.candidates.delete(key); // it has come back
      else if (performance.now() >= candidate.due) this.begin(key, candidate);
    }
  }

  /** A last attempt for each that is left. Resolves when all are over; those that could not be adopted have been reported by then. */
  async settle(): Promise<void> {
    await this.scan();
    await Promise.all(this.underWay);
    for (const key of [...this.candidates.keys()]) {
      const candidate = this.candidates.get(key);
      if (!candidate || candidate.due === NEVER || isRunning(candidate.owner)) continue;
      if (this.underWay.length >= MAX_AT_A_TIME) await Promise.race(this.underWay);
      if (this.events.isKnown(candidate.sessionId)) this.candidates.delete(key);
      else this.begin(key, candidate);
    }
    await Promise.all(this.underWay);
    for (const candidate of this.candidates.values()) {
      if (candidate.error && !isRunning(candidate.owner)) this.giveUp(candidate, candidate.error);
    }
  }

  close(): void {
    this.isClosed = true;
    this.candidates.clear();
  }

  private get underWay(): Promise<void>[] {
    return [...this.candidates.values()].flatMap(({ attempt }) => (attempt ? [attempt] : []));
  }

  private async scanAll(): Promise<void> {
    const now = performance.now();
    const isNew = (sessionId: Uint8Array): boolean => {
      const key = keyOf(sessionId);
      return (
        !this.candidates.has(key) && !((this.foreign.get(key) ?? 0) > now) && !this.events.isKnown(sessionId)
      );
    };
    const found = ClientMemory.all(isNew);
    for (const [key, until] of this.foreign) if (until <= now) this.foreign.delete(key);
    for (const memory of found) {
      const { sessionId, traceName: name, owner, path: memoryPath } = memory;
      memory.close();
      const key = keyOf(sessionId);
      const { path, state } = await locateTrace(this.outputDirectory, name, sessionId);
      if (path !== null && state === 'unclosed') {
        const fresh = {
          due: 0,
          pauseMs: FIRST_PAUSE_MS,
          attempt: null,
          error: null,
          isTold: false,
          isGivenUp: false,
        };
        this.candidates.set(key, { sessionId, name, owner, memoryPath, path, ...fresh });
      } else if (state === 'closed' && !isRunning(owner)) discard(sessionId);
      else this.foreign.set(key, now + (state === 'closed' ? 0 : FOREIGN_MS));
    }
  }

  private begin(key: string, candidate: Candidate): void {
    candidate.attempt = this.attempt(key, candidate).finally(() => {
      candidate.attempt = null;
    });
  }

  private async attempt(key: string, candidate: Candidate): Promise<void> {
    const { sessionId, name, memoryPath } = candidate;
    const isLeft = (): boolean => existsSync(memoryPath);
    try {
      // Another session may have come to its name, and another daemon may have finished it.
      const { path, state } = await locateTrace(this.outputDirectory, name, sessionId);
      if (path !== null && state === 'unclosed' && isLeft()) {
        candidate.path = path;
        await this.events.adopt({ sessionId, name, path, isLeft });
      } else if (state === 'closed') discard(sessionId);
      this.candidates.delete(key);
    } catch (error) {
      if (isLeft()) this.postpone(candidate, asUscopeError(error));
      else this.candidates.delete(key); // its session reports what was wrong with it
    }
  }

  private postpone(candidate: Candidate, error: UscopeError): void {
    candidate.error = error;
    if (isFinal(error)) {
      candidate.due = NEVER;
      this.giveUp(candidate, error);
      return;
    }
    candidate.due = performance.now() + candidate.pauseMs;
    candidate.pauseMs = Math.min(2 * candidate.pauseMs, MAX_PAUSE_MS);
    if (!candidate.isTold) this.events.onTrouble(candidate.name, waitingError(error), 'waiting');
    candidate.isTold = true;
  }

  private giveUp(candidate: Candidate, error: UscopeError): void {
    if (candidate.isGivenUp) return;
    candidate.isGivenUp = true;
    this.events.onTrouble(candidate.name, leftError(candidate, error), 'left');
  }
}

/** Another attempt would find the same. */
function isFinal({ code }: UscopeError): boolean {
  return code.startsWith('FORMAT_') || code.startsWith('SCHEMA_') || code === 'WRITER_CLOSED';
}

/** A client that was killed after its close has left nothing that is not in the file. */
function discard(sessionId: Uint8Array): void {
  const memory = ClientMemory.open(sessionId);
  if (memory?.isAbandoned) memory.remove();
  memory?.close();
}

function waitingError({ code, detail, place }: UscopeError): UscopeError {
  const what = 'its client has ended, and what is left of it cannot be finalized yet; this is tried again';
  return new UscopeError(code, `${detail} (${what})`, place);
}

function leftError({ path, memoryPath }: Candidate, { code, detail }: UscopeError): UscopeError {
  const output = path.replace(/(\.uscope)?$/, '.recovered.uscope');
  const advice =
    `its client has ended, and what is left of it was not finalized; its last cycles are in ${memoryPath} until this machine stops: ` +
    `start a daemon with this output directory again, or run "uscope recover ${path} -o ${output} --memory ${memoryPath}"`;
  return new UscopeError(code, `${detail}. ${advice}`, { file: path });
}

const keyOf = (sessionId: Uint8Array): string => Buffer.from(sessionId).toString('hex');
