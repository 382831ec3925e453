/** The first 64 bytes of a file, and the 28 in front of each block. */
import { UscopeError } from '../../base/errors.js';
import {
  BLOCK_HEADER_BYTES,
  type CtraceBlock,
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
