/**
 * LZ4 on the addon's own threads (sdk/kernel/native/pool.h): blocks of a writer's memory are handed over as addresses, with neither a
 * message nor a JavaScript heap per thread.
 */
import { UscopeError } from '../../base/errors.js';
import type { Compressed, Lz4Job } from '../../native/lz4.js';
import { type Addon, loadAddon, type Pool } from '../../native/native-addon.js';

interface Waiter {
  /** Held until the block is done: the thread knows its address only. */
  readonly memory: WebAssembly.Memory;
  resolve(result: Compressed): void;
}

export class NativePool {
  /** null where there is no addon, or no thread can be started. */
  static open(threads: number): NativePool | null {
    const addon = loadAddon();
    if (addon === null) return null;
    const pool = new NativePool(addon.poolCompress);
    try {
      pool.handle = addon.openPool(threads, (number, size, crc) => pool.settle(number, { size, crc }));
    } catch {
      return null;
    }
    return pool;
  }

  private handle!: Pool;
  private readonly waiting = new Map<number, Waiter>();
  private readonly views = new WeakMap<WebAssembly.Memory, Uint8Array>();
  private nextNumber = 0;

  private constructor(private readonly submit: Addon['poolCompress']) {}

  /** @throws UscopeError WRITER_COMPRESSION when there is no memory for one more block to wait. */
  compress(memory: WebAssembly.Memory, { table, source, size, target, prefix }: Lz4Job): Promise<Compressed> {
    return new Promise((resolve, reject) => {
      const number = this.nextNumber;
      this.nextNumber = (number + 1) >>> 0;
      this.waiting.set(number, { memory, resolve });
      try {
        this.submit(this.handle, this.viewOf(memory), number, table, source, size, target, prefix);
      } catch (cause) {
        this.waiting.delete(number);
        reject(new UscopeError('WRITER_COMPRESSION', 'a block cannot be compressed', {}, { cause }));
      }
    });
  }

  /** A memory stays where it is when it grows: one view of it is enough. */
  private viewOf(memory: WebAssembly.Memory): Uint8Array {
    let view = this.views.get(memory);
    if (!view) {
      view = new Uint8Array(memory.buffer);
      this.views.set(memory, view);
    }
    return view;
  }

  private settle(number: number, result: Compressed): void {
    const waiter = this.waiting.get(number);
    this.waiting.delete(number);
    waiter?.resolve(result);
  }
}
