/**
 * The compiled pass (sdk/kernel/index) with its own memory: the index of one segment after the other. One kernel serves any number of
 * traces, as nothing but the plan stays in it.
 */
import { instanceOf } from '../../base/webassembly.js';
import { aligned, type KernelMemory, kernelModule, reserve } from './kernel-module.js';

/** Largest container that is made; most are thousands of times smaller. */
export const MAX_CONTAINER_BYTES = 4 * 1024 * 1024;
/** A memory never shrinks: larger segments have no index here. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Words of `struct index_job`, in its order. */
enum Job {
  PLAN,
  CHECKPOINT,
  FRAMES,
  CARRY,
  SCRATCH,
  OUT,
  CHECKPOINT_SIZE,
  FRAMES_SIZE,
  CARRY_SIZE,
  CARRY_KNOWN,
  SCRATCH_SIZE,
  OUT_SIZE,
  PLAN_CRC,
  STRANGE_SLOTS,
  START_LO,
  START_HI,
  CARRY_AT,
  CARRY_LENGTH,
  EVENTS_LAST,
  PADDING,
  LENGTH,
}

interface KernelExports extends KernelMemory {
  index_scratch_bytes(plan: number, strangeSlots: number): number;
  index_segment(job: number): number;
}

/** A plan (`IndexPlan`), as far as the pass needs it. */
export interface PlanWords {
  readonly words: Uint32Array;
  readonly crc: number;
}

/** What a segment's index is made of. */
export interface IndexInput {
  readonly timeStartPs: bigint;
  readonly checkpoint: Uint8Array;
  /** Interleaved, decompressed. */
  readonly frames: Uint8Array;
  /** null: what went before is not known; of no bytes: this is the first segment. */
  readonly carry: Uint8Array | null;
  /** Ops may name slots beyond a storage's: in files of other writers. */
  readonly strangeSlots?: boolean;
  /** Frames list ops before events, as those of v0.1 do, so that a flush may come after the birth of a successor. */
  readonly eventsLast?: boolean;
}

export interface IndexOutput {
  /** With neither the place of the segment nor a checksum: see `sealIndexContainer`. */
  readonly container: Uint8Array;
  readonly carry: Uint8Array;
}

/** @throws UscopeError ENV_KERNEL, ENV_MEMORY */
export function createIndexKernel(): IndexKernel {
  return new IndexKernel(kernelModule());
}

export class IndexKernel {
  private readonly exports: KernelExports;
  private readonly base: number;
  /** What lies at the start of the memory. */
  private placed: { plan: PlanWords; strangeSlots: boolean; scratch: number; scratchSize: number } | null =
    null;

  constructor(module: WebAssembly.Module) {
    this.exports = instanceOf(module);
    this.base = aligned(this.exports.__heap_base.value);
  }

  /** null: the segment does not follow the schema, or it or its index are too large. */
  run(plan: PlanWords, input: IndexInput): IndexOutput | null {
    const { checkpoint, frames, carry, timeStartPs, strangeSlots = false, eventsLast = false } = input;
    const placed = this.place(plan, strangeSlots);
    if (!placed) return null;
    const out = aligned(placed.scratch + placed.scratchSize);
    const carryAt = aligned(out + MAX_CONTAINER_BYTES);
    const checkpointAt = aligned(carryAt + (carry?.length ?? 0));
    const framesAt = aligned(checkpointAt + checkpoint.length);
    if (!this.reserve(framesAt + frames.length)) return null;
    const bytes = new Uint8Array(this.exports.memory.buffer);
    if (carry) bytes.set(carry, carryAt);
    bytes.set(checkpoint, checkpointAt);
    bytes.set(frames, framesAt);
    const job = new Uint32Array(bytes.buffer, this.base, Job.LENGTH);
    job[Job.PLAN] = this.planAt;
    job[Job.CHECKPOINT] = checkpointAt;
    job[Job.FRAMES] = framesAt;
    job[Job.CARRY] = carryAt;
    job[Job.SCRATCH] = placed.scratch;
    job[Job.OUT] = out;
    job[Job.CHECKPOINT_SIZE] = checkpoint.length;
    job[Job.FRAMES_SIZE] = frames.length;
    job[Job.CARRY_SIZE] = carry?.length ?? 0;
    job[Job.CARRY_KNOWN] = carry ? 1 : 0;
    job[Job.SCRATCH_SIZE] = placed.scratchSize;
    job[Job.OUT_SIZE] = MAX_CONTAINER_BYTES;
    job[Job.PLAN_CRC] = plan.crc;
    job[Job.STRANGE_SLOTS] = strangeSlots ? 1 : 0;
    job[Job.EVENTS_LAST] = eventsLast ? 1 : 0;
    job[Job.START_LO] = Number(timeStartPs & 0xffff_ffffn);
    job[Job.START_HI] = Number(timeStartPs >> 32n);
    const size = this.exports.index_segment(this.base);
    if (size === 0) return null;
    const carryFrom = out + job[Job.CARRY_AT]!;
    return {
      container: bytes.slice(out, out + size),
      carry: bytes.slice(carryFrom, carryFrom + job[Job.CARRY_LENGTH]!),
    };
  }

  private get planAt(): number {
    return aligned(this.base + Job.LENGTH * 4);
  }

  private place(plan: PlanWords, strangeSlots: boolean): { scratch: number; scratchSize: number } | null {
    const { placed, planAt } = this;
    if (placed?.plan === plan && placed.strangeSlots === strangeSlots) return placed;
    this.placed = null;
    const scratch = aligned(planAt + plan.words.byteLength);
    if (!this.reserve(scratch)) return null;
    new Uint32Array(this.exports.memory.buffer, planAt, plan.words.length).set(plan.words);
    const scratchSize = this.exports.index_scratch_bytes(planAt, strangeSlots ? 1 : 0) >>> 0;
    if (scratchSize > MAX_BYTES) return null;
    this.placed = { plan, strangeSlots, scratch, scratchSize };
    return this.placed;
  }

  private reserve(bytes: number): boolean {
    return reserve(this.exports, bytes, MAX_BYTES);
  }
}
