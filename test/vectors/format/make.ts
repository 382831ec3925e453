/**
 * The golden vectors of the file format. Their bytes are spelled out by hand in source/, from docs/reference/format.md, without the encoders.
 * `UPDATE_VECTORS=1 npx vitest run test/vectors/format` writes the files NAME.bin and NAME.json of this folder.
 */
import { fileVectors } from './source/files.js';
import { preambleVectors } from './source/preamble.js';
import { schemaVectors } from './source/schema.js';
import { segmentVectors } from './source/segment.js';
import { tailVectors } from './source/tail.js';
import type { Vector } from './source/vector.js';

export const vectors: readonly Vector[] = [
  ...preambleVectors,
  ...schemaVectors,
  ...segmentVectors,
  ...tailVectors,
  ...fileVectors,
];
