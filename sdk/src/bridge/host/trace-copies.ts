/**
 * Traces whose model wants a copy in another format: the DUT property `uscope.copy` names it (`ftr`). The copy is made when the trace is complete,
 * also of a model that was killed, and lies beside it.
 */
import { stat } from 'node:fs/promises';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { openTraceFile } from '../../reader/node.js';
import type { HostMessage, TraceName } from '../report/host-messages.js';

export const COPY_PROPERTY = 'uscope.copy';
const FORMATS: ReadonlySet<string> = new Set(['ftr']);

const DAY_MS = 86_400_000;
/** A copy that takes longer than this is ended: a minute, and a second for each 100 kB of the trace (a conversion reads megabytes a second). */
export const copyLimitMs = (bytes: number): number => Math.min(DAY_MS, 60_000 + Math.round(bytes / 100));

/** Makes the copy `output` of the trace `path`; ends when `signal` is aborted. @throws why it could not */
export type CopyTrace = (path: string, output: string, signal: AbortSignal) => Promise<void>;

export class TraceCopies {
  private readonly running = new Set<Promise<void>>();
  /** One after the other: a copy takes a processor. */
  private last: Promise<void> = Promise.resolve();
  private readonly aborted = new AbortController();

  constructor(
    private readonly copy: CopyTrace | undefined,
    private readonly next: (message: HostMessage) => void,
    private readonly limitMs: (bytes: number) => number = copyLimitMs,
  ) {}

  /** Passes a message on, and makes a copy of a trace that has ended and wants one. */
  tell(message: HostMessage): void {
    this.next(message);
    if (message.type !== 'ended' || message.failure || !this.copy) return;
    const { name, path, session } = message;
    const trace = { name, path, session };
    const job = this.last
      .then(() => this.make(path, this.copy!))
      .catch((error) => this.tellWhy(trace, error));
    this.last = job;
    this.running.add(job);
    void job.then(() => this.running.delete(job));
  }

  /** Resolves when all copies are made. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** Ends the copy that is made, and makes no more. */
  abort(): void {
    this.aborted.abort(new UscopeError('CONVERT_SOURCE', 'ended by a signal'));
  }

  private async make(path: string, copy: CopyTrace): Promise<void> {
    const format = await wanted(path);
    if (format === null) return;
    if (!FORMATS.has(format)) {
      const known = [...FORMATS].join(', ');
      throw new UscopeError(
        'CONVERT_UNKNOWN',
        `a copy as "${format}" is wanted (${COPY_PROPERTY}), which is none of ${known}`,
        { file: path },
      );
    }
    this.aborted.signal.throwIfAborted();
    const output = `${path.replace(/\.uscope$/, '')}.${format}`;
    const limit = this.limitMs((await stat(path)).size);
    const late = AbortSignal.timeout(limit);
    try {
      await copy(path, output, AbortSignal.any([this.aborted.signal, late]));
    } catch (error) {
      if (late.aborted) throw tooLong(limit, path);
      this.aborted.signal.throwIfAborted();
      throw error;
    }
  }

  private tellWhy(trace: TraceName, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const code = isUscopeError(error) ? error.code : 'CONVERT_SOURCE';
    const message = `${why}; the trace itself is complete, uscope convert makes the copy`;
    this.next({ type: 'uncopied', ...trace, failure: { code, message } });
  }
}

function tooLong(limitMs: number, file: string): UscopeError {
  const detail = `the copy took more than ${Math.round(limitMs / 1000)} s and was ended`;
  return new UscopeError('CONVERT_SOURCE', detail, { file });
}

/** The format of the copy that a trace wants. */
async function wanted(path: string): Promise<string | null> {
  const trace = await openTraceFile(path);
  try {
    return trace.dutProperty(COPY_PROPERTY) ?? null;
  } finally {
    await trace.close();
  }
}
