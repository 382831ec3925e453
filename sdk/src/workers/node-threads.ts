/** Threads of the pool in Node. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Movable, StartThread } from './thread.js';

/** Sources and what is built from them differ in this. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './node-thread.ts' : './node-thread.js',
  import.meta.url,
);

export const startThread: StartThread = (listener) => {
  const worker = new Worker(ENTRY, { name: 'uscope-reader' });
  worker.unref();
  worker.on('message', (message) => listener.message(message));
  worker.on('messageerror', (error) => listener.died(error.message));
  worker.on('error', (error) => listener.died(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => listener.died(`exit status ${code}`));
  return {
    post: (message, move: readonly Movable[] = []) => worker.postMessage(message, [...move]),
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
};

export const processors = (): number => availableParallelism();
