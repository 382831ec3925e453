/** The daemons that write into a directory, as the viewer's pages ask them: what they record now, and commands. */

import { resolve } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import type { ControlledTrace, CtlRequest } from '../../bridge/client/ctl.js';
import { findDaemons } from '../../bridge/daemon/daemon-file.js';
import { missingPackage } from '../common/optional-packages.js';
import type { ViewCommand } from './server/directory-server.js';

/** One trace as its daemon reports it: plain values for the page. */
export interface Recording {
  readonly name: string;
  readonly path: string;
  readonly state: string;
  readonly timePs: number;
  readonly items: number;
  readonly itemsPerSecond: number;
  readonly bytes: number;
  /** Not yet on the disk. */
  readonly unacknowledgedBytes: number;
  readonly skipped: number;
  /** Scopes; the empty one is the whole trace. */
  readonly disabled: readonly string[];
  /** What a user should know; empty: nothing. */
  readonly warnings: readonly string[];
}

export interface Recordings {
  readonly all: readonly Recording[];
  /** What is wrong with a daemon that was asked; null: nothing. */
  readonly trouble: string | null;
}

export interface Outcome {
  readonly name: string;
  readonly outcome: string;
  readonly message: string | null;
}

/** Daemons answer this from memory. */
const STATUS_MS = 1000;
/** Pages that ask within this time share an answer. */
const FRESH_MS = 400;
/** While a page reads a trace, its daemon is asked this often to commit more often; a wish lasts two seconds. */
const HASTEN_EVERY_MS = 1000;

export class Daemons {
  private hastened = Number.NEGATIVE_INFINITY;
  private asked = Number.NEGATIVE_INFINITY;
  private answer: Promise<Recordings> = Promise.resolve({ all: [], trouble: null });

  constructor(private readonly directory: string) {}

  /** Asks them to commit more often for a while; returns at once. */
  hasten(): void {
    const now = performance.now();
    if (now - this.hastened < HASTEN_EVERY_MS) return;
    this.hastened = now;
    // A daemon that does not answer is reported by the list.
    for (const { endpoint } of openDaemons(this.directory))
      void control(endpoint, { action: 'hasten', timeoutMs: STATUS_MS }).catch(() => undefined);
  }

  recordings(): Promise<Recordings> {
    const now = performance.now();
    if (now - this.asked >= FRESH_MS) {
      this.asked = now;
      this.answer = this.ask();
    }
    return this.answer;
  }

  /** Of each trace that is meant, what has become of it. */
  async command({ action, trace, operand }: ViewCommand): Promise<Outcome[]> {
    const isLabel = action === 'trigger';
    const outcomes: Outcome[] = [];
    for (const { endpoint } of openDaemons(this.directory)) {
      const request = {
        action,
        trace: trace ?? undefined,
        scope: isLabel ? undefined : (operand ?? undefined),
        text: isLabel ? (operand ?? undefined) : undefined,
      };
      for (const [name, { outcome, msg }] of await control(endpoint, request))
        outcomes.push({ name, outcome, message: msg ?? null });
    }
    // What it has changed is to be seen by the next question.
    this.asked = Number.NEGATIVE_INFINITY;
    return outcomes;
  }

  private async ask(): Promise<Recordings> {
    const all: Recording[] = [];
    let trouble: string | null = null;
    for (const { endpoint } of openDaemons(this.directory)) {
      try {
        const traces = await control(endpoint, { action: 'status', timeoutMs: STATUS_MS });
        appendAll(
          all,
          traces.map(([name, trace]) => recordingOf(name, trace)),
        );
      } catch (error) {
        trouble = (error as Error).message;
      }
    }
    return { all, trouble };
  }
}

/** ZeroMQ, which an installation for reading does without, is loaded only where it is used. @throws UscopeError ENV_MISSING */
async function control(endpoint: string, request: CtlRequest) {
  const module = await import('../../bridge/client/ctl.js').catch(async (failure: unknown) => {
    throw (await missingPackage(failure)) ?? failure;
  });
  return module.control(endpoint, request);
}

/** Daemons with lists of keys are not asked: this command has none. A directory that is not there yet has no daemons. */
function openDaemons(directory: string) {
  try {
    return findDaemons(directory).filter(({ needsKeys }) => !needsKeys);
  } catch {
    return [];
  }
}

function recordingOf(name: string, trace: ControlledTrace): Recording {
  const disabled = trace.disabled.map(([scope]) => scope);
  return {
    name,
    path: resolve(trace.path),
    state: trace.state,
    timePs: Number(trace.time_ps),
    items: Number(trace.items),
    itemsPerSecond: Number(trace.rate),
    bytes: Number(trace.bytes),
    unacknowledgedBytes: Number(trace.unacked),
    skipped: Number(trace.skipped),
    disabled,
    warnings: warningsOf(trace, disabled),
  };
}

function warningsOf({ state, code, msg, skipped }: ControlledTrace, disabled: readonly string[]): string[] {
  const scopes = disabled.filter((scope) => scope !== '');
  return [
    ...(state === 'stalled' ? [`the disk takes no more: the simulator waits (${msg ?? 'WRITER_FULL'})`] : []),
    ...(state === 'client lost' ? ['the simulator does not answer any more'] : []),
    ...(scopes.length > 0 ? [`not recorded: ${scopes.join(' ')}`] : []),
    ...(skipped > 0n ? [`${skipped.toLocaleString('en')} items left out, as asked`] : []),
    ...(code !== undefined && state !== 'stalled' ? [`${code}: ${msg ?? ''}`] : []),
  ];
}
