/** The µScope file format: bytes to values and back, pure, without I/O. */

export { checkRawSize } from '../codecs/expansion.js';
export { decompressLz4Block } from '../codecs/lz4-block.js';
export * from './checkpoint.js';
export * from './checksum-chunk.js';
export * from './commit-record.js';
export * from './compression.js';
export * from './dut.js';
export * from './frame.js';
export * from './frame-v01.js';
export * from './header.js';
export * from './preamble.js';
export * from './preamble-check.js';
export * from './record.js';
export * from './schema-chunk.js';
export * from './section-table.js';
export * from './segment.js';
export * from './session-chunk.js';
export * from './string-pool.js';
export * from './string-table.js';
export * from './tsum.js';
export * from './types.js';
export * from './wide-fields.js';
