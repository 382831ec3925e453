/** The first 64 bytes of a file, and the 28 in front of each block. */

import { Builder } from 'flatbuffers';
import { UscopeError } from '../../base/errors.js';
import { addOffsets, type Table, TableBuffer } from './schema.js';
import {
  BLOCK_HEADER_BYTES,
  type CtraceBlock,
  type CtraceFooter,
  type CtraceHeader,
  EVENT_HEADER_BYTES,
  HEADER_BYTES,
  MAGIC,
  VERSION_MAJOR,
  VERSION_MINOR,
} from './types.js';

/** What the file begins with, of files of every version. */
export function hasMagic(head: Uint8Array): boolean {
  return head.length >= 4 && viewOf(head).getUint32(0, true) === MAGIC;
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED, CONVERT_UNSUPPORTED */
export function decodeHeader(bytes: Uint8Array): CtraceHeader {
  if (!hasMagic(bytes) && !isBeginning(bytes)) {
    throw new UscopeError('CONVERT_FORMAT', 'the file does not begin with the magic number of .ctrace', {
      offset: 0,
    });
  }
  if (bytes.length < HEADER_BYTES) {
    const detail = `the file ends after ${bytes.length} of the header's ${HEADER_BYTES} bytes`;
    throw new UscopeError('CONVERT_TRUNCATED', detail, { offset: 0 });
  }
  const view = viewOf(bytes);
  const [versionMajor, versionMinor] = [view.getUint16(4, true), view.getUint16(6, true)];
  if (versionMajor !== VERSION_MAJOR || versionMinor < VERSION_MINOR) {
    const detail = `the file has version ${versionMajor}.${versionMinor}; 1.1 and what follows it in 1 can be read`;
    throw new UscopeError('CONVERT_UNSUPPORTED', detail, { offset: 4 });
  }
  return {
    versionMajor,
    versionMinor,
    schemaOffset: place(view, 8),
    schemaBytes: place(view, 16),
    firstBlock: place(view, 24),
    footerOffset: place(view, 32),
    footerBytes: place(view, 40),
    flags: view.getBigUint64(48, true),
  };
}

export function encodeHeader(header: CtraceHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, header.versionMajor, true);
  view.setUint16(6, header.versionMinor, true);
  const { schemaOffset, schemaBytes, firstBlock, footerOffset, footerBytes } = header;
  for (const [i, value] of [schemaOffset, schemaBytes, firstBlock, footerOffset, footerBytes].entries()) {
    view.setBigUint64(8 + 8 * i, BigInt(value), true);
  }
  view.setBigUint64(48, header.flags, true);
  return bytes;
}

/**
 * The block whose header is at `at` of `bytes`; null when the sizes contradict each other: no block is there.
 * @param offset of the header in the file
 */
export function decodeBlockHeader(
  bytes: Uint8Array,
  at: number,
  offset: number,
  index: number,
): CtraceBlock | null {
  const view = viewOf(bytes);
  const block = {
    index,
    events: view.getUint32(at, true),
    minCycle: view.getBigUint64(at + 4, true),
    maxCycle: view.getBigUint64(at + 12, true),
    uncompressedBytes: view.getUint32(at + 20, true),
    compressedBytes: view.getUint32(at + 24, true),
    offset,
  };
  return isConsistent(block) ? block : null;
}

export function encodeBlockHeader(block: CtraceBlock): Uint8Array {
  const bytes = new Uint8Array(BLOCK_HEADER_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, block.events, true);
  view.setBigUint64(4, block.minCycle, true);
  view.setBigUint64(12, block.maxCycle, true);
  view.setUint32(20, block.uncompressedBytes, true);
  view.setUint32(24, block.compressedBytes, true);
  return bytes;
}

/** Blocks hold at least an event; compression that does not help is not used. */
export function isConsistent(block: CtraceBlock): boolean {
  return (
    block.events > 0 &&
    block.minCycle <= block.maxCycle &&
    block.uncompressedBytes >= block.events * EVENT_HEADER_BYTES &&
    block.compressedBytes > 0 &&
    block.compressedBytes <= block.uncompressedBytes
  );
}

/** Fewer than four bytes, but those of the magic number. */
function isBeginning(bytes: Uint8Array): boolean {
  return bytes.length < 4 && bytes.every((byte, i) => byte === ((MAGIC >>> (8 * i)) & 0xff));
}

/** Offsets beyond 2^53 lie in no file; as numbers they stay beyond the end of every file. */
function place(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// The index of a file's blocks: a FlatBuffers table without identifier.

/**
 * What a footer says of the whole file.
 * @param isWhole false: only its beginning is here, without the number of its blocks
 * @throws UscopeError CONVERT_FORMAT
 */
export function decodeFooter(bytes: Uint8Array, offset: number, isWhole = true): CtraceFooter {
  const root = new TableBuffer(bytes, offset).root();
  return {
    blockCount: isWhole ? root.count(0) : 0,
    totalEvents: root.u64(1),
    minCycle: root.u64(2),
    maxCycle: root.u64(3),
    created: root.u64(4),
  };
}

/**
 * The blocks that a footer lists. They are consecutive before the footer: a list that says otherwise would have some read again
 * and again.
 * @throws UscopeError CONVERT_FORMAT
 */
export function* footerBlocks(bytes: Uint8Array, offset: number): Generator<CtraceBlock> {
  let from = 0;
  for (const table of new TableBuffer(bytes, offset).root().tables(0)) {
    const block = blockOf(table);
    if (block.offset < from || !isConsistent(block)) {
      throw table.buffer.error(table.at, 'lists a block that cannot be');
    }
    from = block.offset + BLOCK_HEADER_BYTES + block.compressedBytes;
    if (from > offset) throw table.buffer.error(table.at, 'lists a block that ends after it');
    yield block;
  }
}

function blockOf(table: Table): CtraceBlock {
  return {
    index: table.u32(0),
    events: table.u32(1),
    minCycle: table.u64(2),
    maxCycle: table.u64(3),
    uncompressedBytes: table.u32(4),
    compressedBytes: table.u32(5),
    offset: Number(table.u64(6)),
  };
}

export function encodeFooter(blocks: readonly CtraceBlock[], footer: CtraceFooter): Uint8Array {
  const builder = new Builder(1024 + blocks.length * 48);
  const vector = addOffsets(
    builder,
    blocks.map((block) => addBlock(builder, block)),
  );
  builder.startObject(5);
  builder.addFieldOffset(0, vector, 0);
  for (const [i, value] of [footer.totalEvents, footer.minCycle, footer.maxCycle, footer.created].entries()) {
    builder.addFieldInt64(1 + i, BigInt.asIntN(64, value), 0n);
  }
  builder.finish(builder.endObject());
  return builder.asUint8Array();
}

function addBlock(builder: Builder, block: CtraceBlock): number {
  builder.startObject(7);
  builder.addFieldInt32(0, block.index | 0, 0);
  builder.addFieldInt32(1, block.events | 0, 0);
  builder.addFieldInt64(2, BigInt.asIntN(64, block.minCycle), 0n);
  builder.addFieldInt64(3, BigInt.asIntN(64, block.maxCycle), 0n);
  builder.addFieldInt32(4, block.uncompressedBytes | 0, 0);
  builder.addFieldInt32(5, block.compressedBytes | 0, 0);
  builder.addFieldInt64(6, BigInt(block.offset), 0n);
  return builder.endObject();
}
