/**
 * Which traces belong together: those of one run carry its id and its start, in the session chunk (the id alone) and as DUT properties that
 * every viewer shows.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CORE_PROPERTY, RUN_ID_PROPERTY, START_TIME_PROPERTY } from '../../format/dut.js';
import type { DutProperties } from '../../format/types.js';
import type { Connection } from './connections.js';

export interface RunIdentity {
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** Wall clock, unix ms. */
  readonly startTimeMs: number;
}

const ID_BYTES = 16;
/** Runs whose start is remembered. */
const MAX_RUNS = 4096;

/** @param core index; absent: not one of several */
export function runProperties({ id, startTimeMs }: RunIdentity, core?: number): DutProperties {
  return [
    [RUN_ID_PROPERTY, hex(id)],
    [START_TIME_PROPERTY, new Date(startTimeMs).toISOString()],
    ...(core === undefined ? [] : [[CORE_PROPERTY, String(core)] as const]),
  ];
}

/** The runs a daemon has seen. A run begins when its first trace is opened, unless the daemon got its start time. */
export class Runs {
  private readonly starts = new Map<string, number>();

  /** @param given of clients that name no run */
  constructor(
    private readonly given: RunIdentity | null = null,
    private readonly now: () => number = Date.now,
  ) {
    if (given) this.starts.set(hex(given.id), given.startTimeMs);
  }

  /** The run that a client names, else the one this daemon is for, else one of the client's process. */
  of(named: Uint8Array | undefined, client: Connection): RunIdentity {
    const isNamed = named?.some((byte) => byte !== 0) === true;
    const id = isNamed ? named.slice() : (this.given?.id ?? idOfClient(client));
    return { id, startTimeMs: this.startOf(hex(id)) };
  }

  private startOf(id: string): number {
    const known = this.starts.get(id) ?? this.now();
    // Set again, so that the run used last is forgotten last.
    this.starts.delete(id);
    this.starts.set(id, known);
    if (this.starts.size > MAX_RUNS) {
      const oldest = [...this.starts.keys()].find((run) => run !== (this.given && hex(this.given.id)));
      if (oldest !== undefined) this.starts.delete(oldest);
    }
    return known;
  }
}

/** The same for every daemon that the process talks to, and for no other process; of another machine's processes, for the connection. */
function idOfClient(client: Connection): Uint8Array {
  const { process: name } = client;
  if (name === null) {
    client.runId ??= new Uint8Array(randomBytes(ID_BYTES));
    return client.runId;
  }
  const text = `${bootId()} ${name.pid} ${name.start}`;
  return new Uint8Array(createHash('sha256').update(text).digest().subarray(0, ID_BYTES));
}

/** Process ids and start times begin again with every boot. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}

const ENV_ID = 'USCOPE_RUN_ID';
const ENV_START = 'USCOPE_RUN_START_MS';

export function newRun(): RunIdentity {
  return { id: new Uint8Array(randomBytes(ID_BYTES)), startTimeMs: Date.now() };
}

/** How a supervisor passes it to its daemons, one after the other, and to its clients. */
export function runEnvironment({ id, startTimeMs }: RunIdentity): Record<string, string> {
  return { [ENV_ID]: hex(id), [ENV_START]: String(startTimeMs) };
}

/** null when there is none, or it cannot be read. */
export function runOfEnvironment(env: NodeJS.ProcessEnv = process.env): RunIdentity | null {
  const id = env[ENV_ID] ?? '';
  const start = env[ENV_START] ?? '';
  if (!/^[0-9a-fA-F]{32}$/.test(id) || !/^\d{1,15}$/.test(start)) return null;
  return { id: new Uint8Array(Buffer.from(id, 'hex')), startTimeMs: Number(start) };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
