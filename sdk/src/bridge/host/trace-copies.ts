/**
 * Traces whose model wants a copy in another format: the DUT property `uscope.copy` names it (`ftr`). The copy is made when the trace is complete,
 * also of a model that was killed, and lies beside it.
 */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { openTraceFile } from '../../reader/node.js';
import type { HostMessage } from '../report/host-messages.js';

export const COPY_PROPERTY = 'uscope.copy';
const FORMATS: ReadonlySet<string> = new Set(['ftr']);

/** Makes the copy `output` of the trace `path`. @throws why it could not */
export type CopyTrace = (path: string, output: string) => Promise<void>;

export class TraceCopies {
  private readonly running = new Set<Promise<void>>();
  /** One after the other: a copy takes a processor. */
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly copy: CopyTrace | undefined,
    private readonly next: (message: HostMessage) => void,
  ) {}

  /** Passes a message on, and makes a copy of a trace that has ended and wants one. */
  tell(message: HostMessage): void {
    this.next(message);
    if (message.type !== 'ended' || message.failure || !this.copy) return;
    const { name, path } = message;
    const job = this.last.then(() => this.make(path, this.copy!)).catch((error) => this.tellWhy(name, error));
    this.last = job;
    this.running.add(job);
    void job.then(() => this.running.delete(job));
  }

  /** Resolves when all copies are made. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
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
    await copy(path, `${path.replace(/\.uscope$/, '')}.${format}`);
  }

  private tellWhy(name: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = isUscopeError(error) ? error.code : 'CONVERT_SOURCE';
    this.next({ type: 'trouble', name, failure: { code, message } });
  }
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
