/** Checkpoint (docs/reference/format.md#checkpoints): one block per storage with its valid mask (sparse only), slots and properties, all tightly packed. */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { packedSize, type Schema, SF_SPARSE, type StorageDef } from './types.js';

const CHECKPOINT_BLOCK_HEADER_SIZE = 8;

export interface CheckpointBlock {
  readonly storageId: number;
  /** Sparse storages: one bit per slot, LSB first; null for dense ones. */
  readonly mask: Uint8Array | null;
  /** Packed slots: the valid ones of a sparse storage, all of a dense one. */
  readonly slotData: Uint8Array;
  /** Packed properties; empty when the storage has none. */
  readonly propertyData: Uint8Array;
}

/** Bytes of a storage's valid mask; 0 for a dense one. */
export function maskSize(storage: StorageDef): number {
  return storage.flags & SF_SPARSE ? (storage.numSlots + 7) >>> 3 : 0;
}

/** Number of bits set in a mask. */
export function countBits(mask: Uint8Array): number {
  let count = 0;
  for (let byte of mask) {
    for (; byte !== 0; byte &= byte - 1) count++;
  }
  return count;
}

/** Blocks in the order given: other readers expect one per storage, in schema order. FORMAT_ID, FORMAT_LENGTH, FORMAT_VALUE when a block does not match. */
export function encodeCheckpoint(schema: Schema, blocks: readonly CheckpointBlock[]): Uint8Array {
  const writer = new ByteWriter(1024);
  for (const block of blocks) {
    const storage = schema.storages[block.storageId];
    if (!storage)
      throw new UscopeError('FORMAT_ID', `checkpoint block of undefined storage ${block.storageId}`);
    const size = (block.mask?.length ?? 0) + block.slotData.length + block.propertyData.length;
    checkMask(storage, block.mask ?? new Uint8Array(0), 0);
    checkSize(storage, block.mask, size, 0);
    writer.u16(block.storageId).u16(0).u32(size);
    if (block.mask) writer.bytes(block.mask);
    writer.bytes(block.slotData).bytes(block.propertyData);
  }
  return writer.finish();
}

/**
 * Splits a checkpoint into its blocks (views, no copies). Every size is checked against the schema.
 * Errors: FORMAT_TRUNCATED, FORMAT_ID (undefined storage), FORMAT_VALUE (storage twice, mask bits past the last slot), FORMAT_LENGTH.
 */
export function decodeCheckpoint(bytes: Uint8Array, schema: Schema, baseOffset = 0): CheckpointBlock[] {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  const blocks: CheckpointBlock[] = [];
  const seen = new Set<number>();
  while (reader.remaining > 0) {
    const at = reader.offset;
    reader.need(CHECKPOINT_BLOCK_HEADER_SIZE, 'checkpoint block header');
    const storageId = reader.u16();
    reader.skip(2);
    const size = reader.u32();
    const storage = schema.storages[storageId];
    if (!storage) throw reader.error('FORMAT_ID', `checkpoint block of undefined storage ${storageId}`, at);
    if (seen.has(storageId)) {
      throw reader.error('FORMAT_VALUE', `storage '${storage.name}' has two blocks in one checkpoint`, at);
    }
    seen.add(storageId);
    blocks.push(decodeBlock(reader, storage, size));
  }
  return blocks;
}

function decodeBlock(reader: ByteReader, storage: StorageDef, size: number): CheckpointBlock {
  const place = reader.fileOffset;
  reader.need(size, `checkpoint block of storage '${storage.name}'`);
  const isSparse = (storage.flags & SF_SPARSE) !== 0;
  const maskBytes = maskSize(storage);
  if (size < maskBytes) {
    throw reader.error(
      'FORMAT_LENGTH',
      `block of '${storage.name}' has ${size} bytes, its mask alone ${maskBytes}`,
    );
  }
  const mask = isSparse ? reader.bytes(maskBytes) : null;
  if (mask) checkMask(storage, mask, place);
  checkSize(storage, mask, size, place);
  const propertyBytes = packedSize(storage.properties);
  const slotData = reader.bytes(size - maskBytes - propertyBytes);
  return { storageId: storage.storageId, mask, slotData, propertyData: reader.bytes(propertyBytes) };
}

function checkMask(storage: StorageDef, mask: Uint8Array, offset: number): void {
  const expected = maskSize(storage);
  if (mask.length !== expected) {
    throw new UscopeError(
      'FORMAT_LENGTH',
      `mask of '${storage.name}' has ${mask.length} bytes, ${storage.numSlots} slots need ${expected}`,
      { offset },
    );
  }
  const spare = expected * 8 - storage.numSlots;
  if (expected > 0 && spare > 0 && mask[expected - 1] >> (8 - spare) !== 0) {
    throw new UscopeError(
      'FORMAT_VALUE',
      `mask of '${storage.name}' has bits set past slot ${storage.numSlots - 1}`,
      {
        offset,
      },
    );
  }
}

function checkSize(storage: StorageDef, mask: Uint8Array | null, size: number, offset: number): void {
  const slots = mask ? countBits(mask) : storage.numSlots;
  const expected = maskSize(storage) + slots * packedSize(storage.fields) + packedSize(storage.properties);
  if (size !== expected) {
    throw new UscopeError(
      'FORMAT_LENGTH',
      `block of '${storage.name}' has ${size} bytes, ${slots} slots and the properties take ${expected}`,
      { offset },
    );
  }
}
