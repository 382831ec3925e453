/** `uscope view DIR`: the traces of a directory as they appear, each with its picture, and what `uscope ctl` does. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { ControlledTrace, CtlRequest } from '../../bridge/client/ctl.js';
import { findDaemons } from '../../bridge/daemon/daemon-file.js';
import {
  type OpenTrace,
  openServedTrace,
  serveDirectory,
  type ViewCommand,
  type ViewServer,
} from '../../view/index.js';
import { missingPackage } from '../common/optional-packages.js';
import { listRuns } from '../runs/listing.js';
import { type Announcement, announce, raised } from './announce.js';

export interface DirectoryRequest {
  readonly directory: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly wantsBrowser: boolean;
  /** The page gets no token: it shows, and commands nothing. */
  readonly isReadOnly: boolean;
}

const TOKEN_BYTES = 24;
/** Daemons answer this from memory. */
const STATUS_MS = 1000;
/** While a page reads a trace, its daemon is asked this often to commit more often; a wish lasts two seconds. */
const HASTEN_EVERY_MS = 1000;

/** Until the signal is raised. @throws UscopeError VIEW_PORT */
export async function viewDirectory(request: DirectoryRequest, signal: AbortSignal): Promise<void> {
  const server = await startDirectoryView(request);
  try {
    await raised(signal);
  } finally {
    await server.close();
  }
}

/** Serves and announces it. @throws UscopeError VIEW_PORT, ENV_MISSING */
export async function startDirectoryView(
  request: DirectoryRequest,
  announcement: Partial<Announcement> = {},
): Promise<ViewServer> {
  const { directory, port, wantsBrowser, isReadOnly } = request;
  const token = isReadOnly ? null : randomBytes(TOKEN_BYTES).toString('base64url');
  const server = await serveDirectory(new Directory(directory), { port, token });
  const hash = token === null ? '' : `#token=${token}`;
  await announce({ name: directory, hash, wantsBrowser, ...announcement }, server);
  return server;
}

interface Recording {
  readonly endpoint: string;
  readonly name: string;
  readonly trace: ControlledTrace;
}

class Directory {
  private hastened = Number.NEGATIVE_INFINITY;

  constructor(private readonly directory: string) {}

  looking(): void {
    const now = performance.now();
    if (now - this.hastened < HASTEN_EVERY_MS) return;
    this.hastened = now;
    // A daemon that does not answer is reported by the list.
    for (const { endpoint } of openDaemons(this.directory))
      void control(endpoint, { action: 'hasten', timeoutMs: STATUS_MS }).catch(() => undefined);
  }

  async list(): Promise<unknown> {
    const { recordings, trouble } = await this.recordings();
    const byPath = new Map(recordings.map((one) => [resolve(one.trace.path), one]));
    const runs = await listRuns(this.directory, () => undefined);
    return {
      directory: this.directory,
      trouble,
      runs: runs.map(({ id, startTimeMs, traces }) => ({
        id,
        startTimeMs,
        traces: traces.map(({ name, path, state, reason, lastCycle, bytes }) => {
          const recording = byPath.get(resolve(path));
          return {
            ...{ name, state, reason, bytes },
            lastCycle: lastCycle === null ? null : Number(lastCycle),
            recording: recording ? shown(recording) : null,
          };
        }),
      })),
    };
  }

  async open(name: string): Promise<OpenTrace | null> {
    const runs = await listRuns(this.directory, () => undefined);
    const found = runs.flatMap(({ traces }) => traces).find((trace) => trace.name === name);
    return found ? openServedTrace(found.path) : null;
  }

  /** Of each trace that is meant, what has become of it. */
  async control({ action, trace, operand }: ViewCommand): Promise<unknown> {
    const isLabel = action === 'trigger';
    const outcomes: { name: string; outcome: string; message: string | null }[] = [];
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
    return outcomes;
  }

  private async recordings(): Promise<{ recordings: readonly Recording[]; trouble: string | null }> {
    const recordings: Recording[] = [];
    let trouble: string | null = null;
    for (const { endpoint } of openDaemons(this.directory)) {
      try {
        const traces = await control(endpoint, { action: 'status', timeoutMs: STATUS_MS });
        recordings.push(...traces.map(([name, trace]) => ({ endpoint, name, trace })));
      } catch (error) {
        trouble = (error as Error).message;
      }
    }
    return { recordings, trouble };
  }
}

/** ZeroMQ, which an installation for reading does without, is loaded only where it is used. @throws UscopeError ENV_MISSING */
async function control(endpoint: string, request: CtlRequest) {
  const module = await import('../../bridge/client/ctl.js').catch((failure: unknown) => {
    throw missingPackage(failure) ?? failure;
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

const shown = ({ name, trace }: Recording) => ({
  name,
  state: trace.state,
  itemsPerSecond: Number(trace.rate),
  unacknowledgedBytes: Number(trace.unacked),
  disabled: trace.disabled.map(([scope]) => scope).filter((scope) => scope !== ''),
});
