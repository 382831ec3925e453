/** LZ4 of blocks that lie anywhere, one at a time: for the foreign formats. The writer compresses in its own memory (native/lz4.ts). */
import { reserved } from '../base/webassembly.js';
import type { Lz4Compress } from './kernel-exports.js';
import { bindLz4, LZ4_TABLE_BYTES, lz4Room } from './lz4.js';

const PAGE_BYTES = 64 * 1024;
/** What the code may read and write after the bytes. */
const SLACK_BYTES = 64;

interface Room {
  readonly compress: Lz4Compress;
  readonly memory: Uint8Array;
  /** Bytes of a block that fits. */
  readonly maxBytes: number;
}

export class Lz4Blocks {
  private room: Room | null = null;

  /** @returns one block, valid until the next call */
  compress(bytes: Uint8Array): Uint8Array {
    // A token without literals.
    if (bytes.length === 0) return new Uint8Array(1);
    if (!this.room || bytes.length > this.room.maxBytes) this.room = openRoom(bytes.length);
    const { compress, memory, maxBytes } = this.room;
    const target = LZ4_TABLE_BYTES + maxBytes + SLACK_BYTES;
    memory.set(bytes, LZ4_TABLE_BYTES);
    const size = compress(0, LZ4_TABLE_BYTES, bytes.length, target);
    return memory.subarray(target, target + size);
  }
}

/** Room for more than was asked, up to the next power of two: blocks of a file differ a little in size. */
function openRoom(bytes: number): Room {
  const maxBytes = 2 ** Math.ceil(Math.log2(Math.max(bytes, PAGE_BYTES)));
  const size = LZ4_TABLE_BYTES + maxBytes + SLACK_BYTES + lz4Room(maxBytes) + SLACK_BYTES;
  const pages = Math.ceil(size / PAGE_BYTES);
  const memory = reserved(() => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }));
  return { compress: bindLz4(memory), memory: new Uint8Array(memory.buffer), maxBytes };
}
