/** What a writer takes of the machine's memory, known from the schema before anything is taken. */

import { loadAddon } from '../../native/native-addon.js';
import type { StateLayout } from '../../state/layout.js';
import { blockBytes, type MemoryAllowance, WriterMemory } from './writer-memory.js';

/** The code that owns the memory of the process. */
export interface WriterBudget {
  /** Resolves when the writer has this number of bytes. @throws UscopeError why they are not */
  grant(bytes: number): Promise<void>;
  /** As `grant`, in the middle of the work. */
  extend(bytes: number): void;
}

export interface MemoryNeed {
  /** Of the writer's memory: state, tables, two checkpoints, two segments. */
  readonly memory: number;
  /** That, and the state as it is before it is moved there. */
  readonly total: number;
}

const MiB = 1024 * 1024;
/** Bytes of the compiled loop's tables for one storage, field or event type: see FrameKernel. */
const STORAGE_BYTES = 48;
const FIELD_BYTES = 112;
const EVENT_BYTES = 8;
/** Segments as they begin, one that is open and one that is being compressed; they ask for more as they grow. */
const SEGMENT_BYTES = 2 * 2 * MiB;
/** Tables of the compressor, alignment, stack. */
const OTHER_BYTES = MiB / 2;
/** Windows for records, which machine code does without. */
const WINDOW_BYTES = 3 * MiB;
/** One that is open, and one that is being committed. */
const CHECKPOINTS = 2;

export function memoryNeed(layout: StateLayout): MemoryNeed {
  const { numStorages, sizes, schema } = layout;
  const state = layout.totalCells * 8 + layout.totalMaskBytes + numStorages * 4;
  const tables =
    numStorages * STORAGE_BYTES + sizes.length * FIELD_BYTES + schema.events.length * EVENT_BYTES;
  const windows = loadAddon() === null ? WINDOW_BYTES : 0;
  const checkpoints = CHECKPOINTS * blockBytes(checkpointBytes(layout));
  const memory = state + tables + checkpoints + SEGMENT_BYTES + windows + OTHER_BYTES;
  return { memory, total: memory + state };
}

/** A checkpoint in which every slot is valid (docs/reference/format.md#checkpoints). */
export function checkpointBytes({ numStorages, numSlots, slotBytes, propertyBytes }: StateLayout): number {
  let bytes = 0;
  for (let id = 0; id < numStorages; id++) {
    const mask = (numSlots[id] + 7) >>> 3;
    bytes += 16 + mask + numSlots[id] * slotBytes[id] + propertyBytes[id];
  }
  return bytes;
}

/** Resolves when a writer of that layout may begin; what it needs beyond that, it asks for. @throws what `budget` throws */
export async function granted(
  layout: StateLayout,
  budget: WriterBudget | undefined,
): Promise<MemoryAllowance | null> {
  if (!budget) return null;
  const need = memoryNeed(layout);
  // Used again, it costs no more than the grant: it must not be counted next to it.
  const claimed = WriterMemory.claim(need.memory);
  try {
    await budget.grant(need.total);
  } catch (error) {
    claimed?.unclaim();
    throw error;
  }
  return { bytes: need.memory, claimed, extend: (bytes) => budget.extend(bytes) };
}
