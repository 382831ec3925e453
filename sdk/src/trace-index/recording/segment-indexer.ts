/**
 * Makes the index while a trace is written: on the threads that compress where the addon is, else immediately with WebAssembly. To be given to a
 * writer as its `index`.
 */
import { crc32 } from '#platform/crc32';
import { decodeIndexContainer, IndexPart, isIndexContainer } from '../../format/index-container.js';
import { openPooledIndexer, type PooledIndexer } from '../../writer/compression/index-pool.js';
import type { SegmentIndexerFactory } from '../../writer/contract/segment-indexer.js';
import { appendDirectory } from '../directory/append-directory.js';
import { createIndexKernel } from '../kernel/index-kernel.js';
import { type IndexPlan, indexPlan } from '../plan.js';
import { fitContainer } from './size-limit.js';

export const createSegmentIndexer: SegmentIndexerFactory = (schema, dut, before) => {
  const plan = indexPlan(schema, dut);
  const carry = carryBehind(plan, before);
  const add = openPooledIndexer(plan, carry) ?? addAtOnce(plan, carry);
  if (!add) return null;
  return {
    add,
    fit: (container, segmentBytes) => fitContainer(plan, container, segmentBytes),
    directory: (file, output) => appendDirectory(plan, file, output),
  };
};

/** The same without the addon: for tests, which compare the two. */
export function addAtOnce(plan: IndexPlan, before: Uint8Array | null): PooledIndexer | null {
  const kernel = createIndexKernel();
  if (!kernel) return null;
  let carry = before;
  return async ({ frames, checkpoint, timeStartPs }) => {
    const made = kernel.run(plan, { frames, checkpoint, timeStartPs, carry });
    carry = made?.carry ?? null;
    return made?.container ?? null;
  };
}

/** What the next segment's index is made with; null: not known. */
export function carryBehind({ crc }: IndexPlan, before: Uint8Array | null): Uint8Array | null {
  if (before === null || before.length === 0) return before;
  const container = isIndexContainer(before, crc32) ? decodeIndexContainer(before, 0, null) : null;
  if (container?.planCrc !== crc) return null;
  return container.parts.find(({ kind }) => kind === IndexPart.CARRY)?.bytes ?? null;
}
