/**
 * LZ4 in the writer's own memory: segments are compressed where they lie, by the compiled sdk/kernel/lz4.c, large ones on a thread of
 * the pool.
 */

import type { Lz4Compress } from '../../native/kernel-exports.js';
import { bindLz4, LZ4_PREFIX_BYTES, LZ4_TABLE_BYTES, lz4Room } from '../../native/lz4.js';
import type { WriterMemory } from '../frames/writer-memory.js';
import { compressInMemory } from './compression-pool.js';
import type { Compressor } from './compressor.js';

/** Blobs up to this size are compressed at once: a thread would cost more than it spares. */
const INLINE_BYTES = 32 * 1024;

export class Lz4Compressor implements Compressor {
  readonly name = 'lz4';
  private inline: {
    readonly compress: Lz4Compress;
    readonly table: number;
    readonly source: Uint8Array;
  } | null = null;

  /** By address of the result. */
  private readonly checksums = new Map<number, number>();

  constructor(private readonly memory: WriterMemory) {}

  /** @param raw of any memory up to 32 KiB; larger blobs lie in the writer's */
  async compress(raw: Uint8Array): Promise<Uint8Array> {
    return raw.length <= INLINE_BYTES ? this.compressHere(raw) : this.compressInThread(raw);
  }

  private compressHere(raw: Uint8Array): Uint8Array {
    const { memory } = this;
    this.inline ??= {
      compress: bindLz4(memory.memory),
      table: memory.place(LZ4_TABLE_BYTES),
      source: memory.take(INLINE_BYTES),
    };
    const { compress, table, source } = this.inline;
    source.set(raw);
    const out = this.takeOut(raw.length);
    const size = compress(table, source.byteOffset, raw.length, out.byteOffset + LZ4_PREFIX_BYTES);
    return out.subarray(0, LZ4_PREFIX_BYTES + size);
  }

  private async compressInThread(raw: Uint8Array): Promise<Uint8Array> {
    const { memory } = this;
    const table = memory.take(LZ4_TABLE_BYTES);
    const out = this.takeOut(raw.length);
    try {
      const { size, crc } = await compressInMemory(memory.memory, {
        table: table.byteOffset,
        source: raw.byteOffset,
        size: raw.length,
        target: out.byteOffset + LZ4_PREFIX_BYTES,
        prefix: LZ4_PREFIX_BYTES,
      });
      if (crc !== undefined) this.checksums.set(out.byteOffset, crc);
      return out.subarray(0, LZ4_PREFIX_BYTES + size);
    } catch (error) {
      memory.giveBack(out);
      throw error;
    } finally {
      memory.giveBack(table);
    }
  }

  private takeOut(size: number): Uint8Array {
    const out = this.memory.take(LZ4_PREFIX_BYTES + lz4Room(size));
    new DataView(out.buffer, out.byteOffset).setUint32(0, size, true);
    return out;
  }

  checksum({ byteOffset }: Uint8Array): number | undefined {
    return this.checksums.get(byteOffset);
  }

  release(compressed: Uint8Array): void {
    this.checksums.delete(compressed.byteOffset);
    this.memory.giveBack(compressed);
  }

  close(): void {
    // The memory is known to the threads until nobody uses it again: see RecordWriter.
  }
}
