/** Threads of the pool in a page: Web Workers. */
import type { StartThread, ThreadListener } from './thread.js';

/** The parts of a Web Worker that are used. */
interface WebWorker {
  postMessage(message: unknown, move: readonly ArrayBuffer[]): void;
  terminate(): void;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onmessageerror: (() => void) | null;
  onerror: ((event: { readonly message?: string; preventDefault?(): void }) => void) | null;
}

declare const Worker: new (url: URL | string, options: { type: 'module'; name: string }) => WebWorker;
declare const navigator: { readonly hardwareConcurrency?: number } | undefined;

/** @param url of the file that the threads run: `uscope/workers/thread` or what a bundler made of it */
export const startThreadOf =
  (url: URL | string): StartThread =>
  (listener) =>
    connected(new Worker(url, { type: 'module', name: 'uscope-reader' }), listener);

export const startThread: StartThread = (listener) =>
  connected(
    // Bundlers that know this form bundle the file.
    new Worker(new URL('./browser-thread.js', import.meta.url), { type: 'module', name: 'uscope-reader' }),
    listener,
  );

function connected(worker: WebWorker, listener: ThreadListener) {
  worker.onmessage = ({ data }) => listener.message(data);
  worker.onmessageerror = () => listener.died('a message could not be read');
  worker.onerror = (event) => {
    event.preventDefault?.();
    listener.died(event.message ?? 'its file could not be loaded');
  };
  return {
    post: (message: unknown, move: readonly ArrayBuffer[] = []) => worker.postMessage(message, move),
    end: () => worker.terminate(),
  };
}

export const processors = (): number =>
  (typeof navigator === 'undefined' ? undefined : navigator.hardwareConcurrency) ?? 2;
