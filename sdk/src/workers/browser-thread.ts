/** Runs in a Web Worker of the pool. */
import { blobSource, httpSource, openTrace } from '../reader/index.js';
import { serve } from './serve.js';

/** The parts of the worker's global scope that are used. */
interface WorkerScope {
  postMessage(message: unknown, move: readonly ArrayBuffer[]): void;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
}

declare const self: WorkerScope;

serve(
  {
    post: (message, move) => self.postMessage(message, move),
    onMessage: (listener) => {
      self.onmessage = ({ data }) => listener(data);
    },
  },
  (location, options) =>
    openTrace(
      location.kind === 'place' ? httpSource(location.place) : blobSource(location.blob, location.name),
      options,
    ),
);
