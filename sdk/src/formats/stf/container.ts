/** The packing of an STF file, recognized by its first bytes, and the uncompressed bytes of those that are read from front to end. */
import { gunzip } from '#platform/zlib';
import { UscopeError } from '../../base/errors.js';
import type { ByteSource } from '../../codecs/byte-source.js';
import { MAX_EXPANSION } from '../../codecs/expansion.js';
import { unxz } from '../../codecs/xz.js';
import { decompressZstd } from '../../codecs/zstd.js';
import { packingOf } from '../text/unpack.js';
import { MAGIC } from './types.js';

export type StfContainer = 'plain' | 'gzip' | 'xz' | 'zstd' | 'zstf';

const XZ_MAGIC = Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0);
const ZSTF_MAGIC = Uint8Array.of(0x5a, 0x53, 0x54, 0x46);

/** By the magic number, never by the name; null for bytes that are none of them. */
export function containerOf(head: Uint8Array): StfContainer | null {
  if (startsWith(head, MAGIC)) return 'plain';
  if (startsWith(head, ZSTF_MAGIC)) return 'zstf';
  if (startsWith(head, XZ_MAGIC)) return 'xz';
  const packing = packingOf(head);
  return packing === 'plain' ? null : packing;
}

function startsWith(head: Uint8Array, magic: Uint8Array): boolean {
  return head.length >= magic.length && magic.every((byte, index) => head[index] === byte);
}

/**
 * The uncompressed bytes of a file that is not `.zstf`. What could be decompressed before the end of a cut file comes first.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED, CONVERT_LIMIT; the offset is that in the file
 */
export function decompressed(
  container: Exclude<StfContainer, 'zstf'>,
  pieces: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (container === 'plain') return pieces;
  if (container === 'gzip') return gunzip(pieces);
  return container === 'xz' ? unxz(pieces) : decompressZstd(pieces, 0);
}

// The chunked container `.zstf`: `ZSTF`, u64 markers per chunk, i64 offset of the index, then chunks from byte 20. Each chunk is a zstd frame.
// The index is u64 n, then per chunk i64 file offset, u64 address of its first instruction, u64 uncompressed size.

export const ZSTF_HEADER_BYTES = 20;
export const ZSTF_ENTRY_BYTES = 24;
export const DEFAULT_MARKERS_PER_CHUNK = 100_000;
/** A chunk is decompressed as a whole. */
const MAX_CHUNK_BYTES = 512 * 1024 * 1024;

export interface ZstfChunk {
  /** In the file: where its frame begins, and how long it is. */
  readonly offset: number;
  readonly bytes: number;
  /** Address of its first instruction unless a FORCE_PC says otherwise; 0 in chunk 0, whose header says it. */
  readonly startPc: bigint;
  /** Uncompressed: size, and offset in the stream. */
  readonly size: number;
  readonly streamOffset: number;
}

export interface ZstfIndex {
  readonly markersPerChunk: number;
  readonly chunks: readonly ZstfChunk[];
  /** False: the file was cut, or its writer did not finish; there is no index, and the chunks extend to the end of the file. */
  readonly isComplete: boolean;
}

/**
 * Reads header and index. A file without index that holds anything is one that was not finished.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED (not even the header is whole)
 */
export async function readZstfIndex(source: ByteSource): Promise<ZstfIndex> {
  const size = await source.size();
  const header = await source.read(0, ZSTF_HEADER_BYTES);
  if (header.length < ZSTF_HEADER_BYTES) {
    throw new UscopeError(
      'CONVERT_TRUNCATED',
      `the file ends inside its header of ${ZSTF_HEADER_BYTES} bytes`,
      {
        offset: header.length,
      },
    );
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const markers = view.getBigUint64(4, true);
  const end = view.getBigInt64(12, true);
  if (markers === 0n || markers > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw fault(`a chunk is said to hold ${markers} instructions`, 4);
  }
  const markersPerChunk = Number(markers);
  if (end === 0n) return { markersPerChunk, chunks: [], isComplete: size === ZSTF_HEADER_BYTES };
  if (end < BigInt(ZSTF_HEADER_BYTES)) throw fault(`the index is stated to be at ${end}`, 12);
  if (end + 8n > BigInt(size)) return { markersPerChunk, chunks: [], isComplete: false };
  return readEntries(source, Number(end), size, markersPerChunk);
}

async function readEntries(
  source: ByteSource,
  end: number,
  size: number,
  markersPerChunk: number,
): Promise<ZstfIndex> {
  const head = await source.read(end, 8);
  const count = new DataView(head.buffer, head.byteOffset, 8).getBigUint64(0, true);
  const room = Math.floor((size - end - 8) / ZSTF_ENTRY_BYTES);
  if (count > BigInt(room)) return { markersPerChunk, chunks: [], isComplete: false };
  const tableEnd = end + 8 + Number(count) * ZSTF_ENTRY_BYTES;
  if (tableEnd !== size) throw fault(`${size - tableEnd} bytes follow the index`, tableEnd);
  if (count === 0n && end !== ZSTF_HEADER_BYTES) throw fault('the index is empty and there are chunks', end);
  const table = await source.read(end + 8, Number(count) * ZSTF_ENTRY_BYTES);
  const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const offsets = Array.from({ length: Number(count) }, (_, i) =>
    view.getBigInt64(i * ZSTF_ENTRY_BYTES, true),
  );
  const chunks: ZstfChunk[] = [];
  let streamOffset = 0;
  for (const [i, offset] of offsets.entries()) {
    const at = end + 8 + i * ZSTF_ENTRY_BYTES;
    const next = offsets[i + 1] ?? BigInt(end);
    const due = i === 0 ? BigInt(ZSTF_HEADER_BYTES) : offset;
    if (offset !== due || next <= offset || next > BigInt(end)) {
      throw fault(`chunk ${i} is stated to be from ${offset} to ${next}`, at);
    }
    const bytes = Number(next - offset);
    const chunkSize = checkedSize(view.getBigUint64(i * ZSTF_ENTRY_BYTES + 16, true), bytes, i, at);
    const startPc = view.getBigUint64(i * ZSTF_ENTRY_BYTES + 8, true);
    chunks.push({ offset: Number(offset), bytes, startPc, size: chunkSize, streamOffset });
    streamOffset += chunkSize;
  }
  return { markersPerChunk, chunks, isComplete: true };
}

function checkedSize(size: bigint, bytes: number, chunk: number, offset: number): number {
  if (size <= BigInt(Math.min(MAX_CHUNK_BYTES, bytes * MAX_EXPANSION.zstd))) return Number(size);
  throw new UscopeError('CONVERT_LIMIT', `chunk ${chunk} of ${bytes} bytes is said to hold ${size}`, {
    offset,
  });
}

function fault(detail: string, offset: number): UscopeError {
  return new UscopeError('CONVERT_FORMAT', `zstf: ${detail}`, { offset });
}
