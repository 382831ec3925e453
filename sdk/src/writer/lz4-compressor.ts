/**
 * LZ4 in the writer's own memory: segments are compressed where they lie, by the compiled sdk/kernel/lz4.c, large ones on a thread of
 * the pool. Half the time of lz4-napi, and smaller blobs.
 */

import { compressInMemory, forgetMemory } from './compression-pool.js';
import type { Compressor } from './compressor.js';
import { bindLz4, LZ4_PREFIX_BYTES, LZ4_TABLE_BYTES, type Lz4Compress, lz4Room } from './kernel/lz4.js';
import type { WriterMemory } from './kernel/writer-memory.js';

/** Blobs up to this size are compressed at once: a thread would cost more than it spares. */
const INLINE_BYTES = 32 * 1024;

export class Lz4Compressor implements Compressor {
  readonly name = 'lz4';
  private inline: Lz4Compress | null = null;

  constructor(private readonly memory: WriterMemory) {}

  async compress(raw: Uint8Array): Promise<Uint8Array> {
    const { memory } = this;
    const table = memory.take(LZ4_TABLE_BYTES);
    const out = memory.take(LZ4_PREFIX_BYTES + lz4Room(raw.length));
    try {
      const job = {
        table: table.byteOffset,
        source: raw.byteOffset,
        size: raw.length,
        target: out.byteOffset + LZ4_PREFIX_BYTES,
      };
      new DataView(out.buffer, out.byteOffset).setUint32(0, raw.length, true);
      const size =
        raw.length <= INLINE_BYTES ? this.compressHere(job) : await compressInMemory(memory.memory, job);
      return out.subarray(0, LZ4_PREFIX_BYTES + size);
    } catch (error) {
      memory.giveBack(out);
      throw error;
    } finally {
      memory.giveBack(table);
    }
  }

  private compressHere(job: { table: number; source: number; size: number; target: number }): number {
    this.inline ??= bindLz4(this.memory.memory);
    return this.inline(job.table, job.source, job.size, job.target);
  }

  release(compressed: Uint8Array): void {
    this.memory.giveBack(compressed);
  }

  close(): void {
    forgetMemory(this.memory.memory);
  }
}
