/** A source whose reader can be cancelled, however it reads. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '../reader/index.js';

/** A signal handler runs when the event loop turns: at the latest after that much work between two reads. */
const TURN_MS = 20;

/** Reads fail with the reason of the signal once it was raised, and let the event loop turn now and then, so that it can be raised. */
export function interruptible(source: Source, signal: AbortSignal | undefined): Source {
  if (!signal) return source;
  let turned = performance.now();
  return {
    name: source.name,
    size: () => source.size(),
    async read(offset, length) {
      if (performance.now() - turned >= TURN_MS) {
        await nextTurn();
        turned = performance.now();
      }
      signal.throwIfAborted();
      return source.read(offset, length);
    },
    refresh: async () => source.refresh?.(),
    settle: () => source.settle?.(),
    close: async () => source.close?.(),
  };
}
