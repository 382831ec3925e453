/**
 * Reads the records of the next messages out of a client's memory, in a thread, while those of one are encoded. Messages are read in the
 * order in which they were announced, each into a window of the writer that belongs to it until it is done.
 */

import type { DataHeader } from '../wire/data-header.js';
import type { ClientMemory } from './client-memory.js';

/** Smaller messages are read when it is their turn: a thread would cost more than it spares. */
const SMALLEST_BYTES = 128 * 1024;
/** Traces that read ahead at a time. With more, the few threads have enough to do with their files, and some slow disk may hold all of them. */
const MAX_TRACES = 3;

let numReading = 0;

/** The records of one message. The code that asked for it waits for `words` to settle and then calls `done`, whatever becomes of it. */
export class AheadRead {
  /** Until `done`. Rejects with what `ClientMemory.words` throws. */
  readonly words: Promise<Uint32Array>;
  private settle!: { resolve(words: Uint32Array | Promise<Uint32Array>): void; reject(cause: Error): void };

  constructor(
    readonly offset: number,
    readonly size: number,
    readonly done: () => void,
  ) {
    this.words = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.words.catch(() => {}); // reported to the code that waits for it, perhaps later
  }

  start(memory: ClientMemory, window: Uint8Array): void {
    this.settle.resolve(memory.read(this.offset, this.size, window));
  }

  /** It will not be started. */
  drop(): void {
    this.settle.reject(new Error('not read any more'));
  }
}

export class ReadAhead {
  private readonly free: Uint8Array[];
  private readonly windowOf = new Map<AheadRead, Uint8Array>();
  private readonly waiting: AheadRead[] = [];
  private readonly largestBytes: number;
  private closed = false;

  /** @param windows of one size; without any, nothing is read ahead */
  constructor(
    private readonly memory: ClientMemory,
    windows: readonly Uint8Array[],
  ) {
    this.free = [...windows];
    this.largestBytes = windows[0]?.length ?? 0;
    numReading++;
  }

  /** null for a message that is better read when it is taken. */
  ask({ memoryOffset = 0, payloadSize }: DataHeader): AheadRead | null {
    if (this.closed || numReading > MAX_TRACES) return null;
    if (payloadSize < SMALLEST_BYTES || payloadSize > this.largestBytes) return null;
    const read = new AheadRead(memoryOffset, payloadSize, () => this.release(read));
    this.waiting.push(read);
    this.startNext();
    return read;
  }

  /** Starts no more; resolves when nothing is written to the windows, nor read from the memory, any longer. */
  async close(): Promise<void> {
    if (!this.closed) numReading--;
    this.closed = true;
    for (const read of this.waiting.splice(0)) read.drop();
    await Promise.allSettled([...this.windowOf.keys()].map(({ words }) => words));
  }

  private startNext(): void {
    while (this.free.length > 0 && this.waiting.length > 0) {
      const read = this.waiting.shift() as AheadRead;
      const window = this.free.pop() as Uint8Array;
      this.windowOf.set(read, window);
      read.start(this.memory, window);
    }
  }

  private release(read: AheadRead): void {
    const window = this.windowOf.get(read);
    if (!window) return;
    this.windowOf.delete(read);
    this.free.push(window);
    this.startNext();
  }
}
