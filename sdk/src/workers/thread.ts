/** What a pool of threads needs of Node's `worker_threads` and of a browser's Web Workers alike. */

/** What is moved instead of copied. */
export type Movable = ArrayBuffer;

/** A thread, as its pool sees it. */
export interface Thread {
  post(message: unknown, move?: readonly Movable[]): void;
  /** Whether the program is to wait for it: an idle one does not keep a program from ending. */
  hold?(isBusy: boolean): void;
  /** Ends it; nothing is heard of it any more. */
  end(): void;
}

/** What a pool hears of a thread. */
export interface ThreadListener {
  message(message: unknown): void;
  /** It has ended by itself, or cannot be started. */
  died(reason: string): void;
}

export type StartThread = (listener: ThreadListener) => Thread;

/** The pool, as a thread sees it. */
export interface PoolPort {
  post(message: unknown, move: readonly Movable[]): void;
  onMessage(listener: (message: unknown) => void): void;
}
