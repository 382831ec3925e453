/** A source whose reader can be cancelled, however it reads. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '../reader/index.js';

/** A signal handler runs when the event loop turns: at the latest after that much work between two reads. */
const TURN_MS = 20;

/**
 * Reads fail with the reason of the signal once it was raised, also those that wait for a server that sends nothing. They let the event loop turn
 * now and then, so that it can be raised.
 */
export function interruptible(source: Source, signal: AbortSignal | undefined): Source {
  if (!signal) return source;
  let turned = performance.now();
  const waiting = new Set<(reason: unknown) => void>();
  signal.addEventListener(
    'abort',
    () => {
      for (const reject of waiting) reject(signal.reason);
    },
    { once: true },
  );
  // Not Promise.race: a promise that is never settled keeps what every one of its races has added to it.
  const orInterrupted = <T>(work: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.add(reject);
      work.then(resolve, reject).finally(() => waiting.delete(reject));
    });
  const turn = async (): Promise<void> => {
    await nextTurn();
    turned = performance.now();
  };
  const isLate = (): boolean => performance.now() - turned >= TURN_MS;
  return {
    name: source.name,
    size: () => source.size(),
    async read(offset, length) {
      if (isLate()) await turn();
      signal.throwIfAborted();
      return orInterrupted(source.read(offset, length));
    },
    ...(source.readInto && {
      async readInto(target: Uint8Array, offset: number) {
        if (isLate()) await turn();
        signal.throwIfAborted();
        return orInterrupted(source.readInto!(target, offset));
      },
    }),
    refresh: async () => source.refresh?.(),
    settle: () => source.settle?.(),
    close: async () => source.close?.(),
  };
}
