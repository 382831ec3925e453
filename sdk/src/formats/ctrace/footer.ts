/** The index of a file's blocks: a FlatBuffers table without identifier. */
import { Builder } from 'flatbuffers';
import { isConsistent } from './header.js';
import { addOffsets } from './schema.js';
import { type Table, TableBuffer } from './tables.js';
import { BLOCK_HEADER_BYTES, type CtraceBlock, type CtraceFooter } from './types.js';

/** What a footer says of the whole file; `bytes` may end after its first table. @throws UscopeError CONVERT_FORMAT */
export function decodeFooter(bytes: Uint8Array, offset: number): CtraceFooter {
  const root = new TableBuffer(bytes, offset).root();
  return {
    blockCount: root.count(0),
    totalEvents: root.u64(1),
    minCycle: root.u64(2),
    maxCycle: root.u64(3),
    created: root.u64(4),
  };
}

/** The same of a footer too large to be held: without its blocks. */
export function decodeFooterHead(head: Uint8Array, offset: number): CtraceFooter {
  const root = new TableBuffer(head, offset).root();
  return {
    blockCount: 0,
    ...{ totalEvents: root.u64(1), minCycle: root.u64(2), maxCycle: root.u64(3), created: root.u64(4) },
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
