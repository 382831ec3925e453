/**
 * Makes the index while a trace is written: on the threads that compress where the addon is, else immediately with WebAssembly. To be given to a
 * writer as its `index`.
 */
import { crc32 } from '#platform/crc32';
import { decodeIndexContainer, IndexPart, isIndexContainer } from '../../format/index-container.js';
import { openPooledIndexer, type PooledIndexer } from '../../writer/compression/compression-pool.js';
import type {
  IndexedFile,
  IndexOutput,
  SegmentIndexer,
  SegmentIndexerFactory,
  SegmentToIndex,
} from '../../writer/contract/segment-indexer.js';
import { appendDirectory } from '../directory/append-directory.js';
import { createIndexKernel } from '../kernel/index-kernel.js';
import { type IndexPlan, indexPlan } from '../plan.js';
import { GrowingDirectory } from './growing-directory.js';
import { fitContainer } from './size-limit.js';

export const createSegmentIndexer: SegmentIndexerFactory = (schema, dut, before) => {
  const plan = indexPlan(schema, dut);
  const carry = carryBehind(plan, before);
  const add = openPooledIndexer(plan, carry) ?? addAtOnce(plan, carry);
  return new Indexer(plan, add, before?.length === 0);
};

class Indexer implements SegmentIndexer {
  /** Of a trace that this one makes the index of from its first segment on; undefined: which has not come yet. */
  private growing: GrowingDirectory | null | undefined;

  constructor(
    private readonly plan: IndexPlan,
    private readonly make: PooledIndexer,
    isFromStart: boolean,
  ) {
    if (!isFromStart) this.growing = null;
  }

  add(segment: SegmentToIndex): Promise<Uint8Array | null> {
    if (this.growing === undefined) this.growing = GrowingDirectory.open(this.plan, segment.timeStartPs);
    return this.make(segment);
  }

  toStore(made: Uint8Array | null, segmentBytes: number): Uint8Array | null {
    const stored = made && fitContainer(this.plan, made, segmentBytes);
    this.growing?.add(stored);
    return stored;
  }

  async directory(file: IndexedFile, output: IndexOutput): Promise<boolean> {
    await appendDirectory(this.plan, file, output, this.growing?.finish(file) ?? null);
    return true;
  }
}

/** The same without the addon: for tests, which compare the two. */
export function addAtOnce(plan: IndexPlan, before: Uint8Array | null): PooledIndexer {
  const kernel = createIndexKernel();
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
