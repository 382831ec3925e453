/**
 * LZ4 and indexes on the addon's own threads (sdk/kernel/native/pool.h): blocks of a writer's memory are handed over as addresses, with neither a
 * message nor a JavaScript heap per thread.
 */
import { UscopeError } from '../../base/errors.js';
import type { Compressed, Lz4Job } from '../../native/lz4.js';
import { type Addon, loadAddon, type Pool } from '../../native/native-addon.js';
import type { SegmentToIndex } from '../contract/segment-indexer.js';

interface Waiter {
  /** Held until the work is done: the thread knows addresses only. */
  readonly held: unknown;
  resolve(result: Compressed, container: ArrayBuffer | undefined): void;
}

export class NativePool {
  /** null where there is no addon, or no thread can be started. */
  static open(threads: number): NativePool | null {
    const addon = loadAddon();
    if (addon === null) return null;
    const pool = new NativePool(addon);
    try {
      pool.handle = addon.openPool(threads, (number, size, crc, container) =>
        pool.settle(number, { size, crc }, container),
      );
    } catch {
      return null;
    }
    return pool;
  }

  private handle!: Pool;
  private readonly waiting = new Map<number, Waiter>();
  private readonly views = new WeakMap<WebAssembly.Memory, Uint8Array>();
  private nextNumber = 0;

  private constructor(private readonly addon: Addon) {}

  /** @throws UscopeError WRITER_COMPRESSION when there is no memory for one more block to wait. */
  compress(memory: WebAssembly.Memory, { table, source, size, target, prefix }: Lz4Job): Promise<Compressed> {
    return new Promise((resolve, reject) => {
      const number = this.await({ held: memory, resolve });
      try {
        const view = this.viewOf(memory);
        this.addon.poolCompress(this.handle, view, number, table, source, size, target, prefix);
      } catch (cause) {
        this.waiting.delete(number);
        reject(new UscopeError('WRITER_COMPRESSION', 'a block cannot be compressed', {}, { cause }));
      }
    });
  }

  /** Makes the index of a trace's segments, one call for each in their order; null: the schema is too large. @param carry null: not known */
  openIndexer(
    plan: Uint32Array,
    crc: number,
    carry: Uint8Array | null,
  ): ((segment: SegmentToIndex) => Promise<Uint8Array | null>) | null {
    const { addon } = this;
    const indexer = addon.openIndexer(plan, crc, carry);
    if (indexer === null) return null;
    return (segment) =>
      new Promise((resolve) => {
        const number = this.await({
          held: [indexer, segment],
          resolve: (_, container) => resolve(container ? new Uint8Array(container) : null),
        });
        const { frames, checkpoint, timeStartPs, isTransient } = segment;
        const [lo, hi] = [Number(timeStartPs & 0xffff_ffffn), Number(timeStartPs >> 32n)];
        try {
          addon.poolIndex(this.handle, indexer, number, frames, checkpoint, lo, hi, isTransient ? 1 : 0);
        } catch {
          this.waiting.delete(number);
          resolve(null);
        }
      });
  }

  private await(waiter: Waiter): number {
    const number = this.nextNumber;
    this.nextNumber = (number + 1) >>> 0;
    this.waiting.set(number, waiter);
    return number;
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

  private settle(number: number, result: Compressed, container: ArrayBuffer | undefined): void {
    const waiter = this.waiting.get(number);
    this.waiting.delete(number);
    waiter?.resolve(result, container);
  }
}
