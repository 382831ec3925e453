/** The stretches of a trace in order, made on several threads; few are ahead of the one that is waited for. */
import { Worker } from 'node:worker_threads';
import { UscopeError } from '../../base/errors.js';
import type { IndexedStretch, Stretch, StretchIndexer } from './stretch.js';
import type { StretchAnswer } from './stretch-thread.js';

const IS_SOURCE = import.meta.url.endsWith('.ts');
const THREAD = new URL(IS_SOURCE ? './stretch-thread.ts' : './stretch-thread.js', import.meta.url);

export interface StretchOptions {
  readonly path: string;
  readonly threads: number;
  readonly signal?: AbortSignal | undefined;
}

/** @throws UscopeError as opening and reading the trace, WRITER_IO when a thread dies */
export async function* indexedStretches(
  stretches: readonly Stretch[],
  indexer: StretchIndexer,
  { path, threads, signal }: StretchOptions,
): AsyncGenerator<IndexedStretch> {
  const count = Math.min(threads, stretches.length);
  if (count <= 1) {
    for (const stretch of stretches) {
      signal?.throwIfAborted();
      yield await indexer.index(stretch);
    }
    return;
  }
  const workers = Array.from({ length: count }, () => new StretchWorker(path));
  try {
    const running: Promise<IndexedStretch>[] = [];
    let next = 0;
    const start = (): void => {
      const stretch = stretches[next];
      if (!stretch) return;
      const coming = workers[next % count]!.index(stretch);
      // It is awaited in its turn.
      coming.catch(() => undefined);
      running.push(coming);
      next++;
    };
    for (let index = 0; index < count * 2; index++) start();
    for (let coming = running.shift(); coming; coming = running.shift()) {
      signal?.throwIfAborted();
      const stretch = await coming;
      start();
      yield stretch;
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

/** Answers in the order of the questions. */
class StretchWorker {
  private readonly worker: Worker;
  private readonly waiting: { resolve(stretch: IndexedStretch): void; reject(error: unknown): void }[] = [];
  private failure: Error | null = null;

  constructor(path: string) {
    this.worker = new Worker(THREAD, { workerData: path, ...(IS_SOURCE ? {} : { execArgv: [] }) });
    this.worker.on('message', (answer: StretchAnswer) => this.take(answer));
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', () =>
      this.fail(new UscopeError('WRITER_IO', 'a thread that makes the index ended')),
    );
  }

  index(stretch: Stretch): Promise<IndexedStretch> {
    return new Promise((resolve, reject) => {
      if (this.failure) {
        reject(this.failure);
        return;
      }
      this.waiting.push({ resolve, reject });
      this.worker.postMessage(stretch);
    });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private take(answer: StretchAnswer): void {
    const asked = this.waiting.shift();
    if ('stretch' in answer) asked?.resolve(answer.stretch);
    else asked?.reject(new UscopeError(answer.code, answer.detail, answer.place));
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }
}
