/** The levels of a directory by compiled code (sdk/kernel/index/directory.h) in WebAssembly. */
import { instanceOf } from '../../base/webassembly.js';
import { KernelLevels, type LevelCode } from '../made-levels/kernel-levels.js';
import type { LevelInput } from '../made-levels/level-maker.js';
import { aligned, type KernelMemory, kernelModule, reserve } from './kernel-module.js';

const OUT_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 512 * 1024 * 1024;

/** Words of `struct directory_job`, in its order. */
enum Job {
  PLAN,
  SCRATCH,
  PARTS,
  OUT,
  SCRATCH_SIZE,
  PARTS_SIZE,
  NUM_PARTS,
  OUT_SIZE,
  START_LO,
  START_HI,
  END_LO,
  END_HI,
  MADE,
  UNUSED,
  LENGTH,
}

interface DirectoryExports extends KernelMemory {
  directory_scratch_bytes(job: number): number;
  directory_open(job: number): void;
  directory_add(job: number): number;
  directory_finish(job: number): number;
}

/** null: the schema is too large. @throws UscopeError ENV_KERNEL, ENV_MEMORY */
export function kernelLevels(input: LevelInput): KernelLevels | null {
  const exports = instanceOf<DirectoryExports>(kernelModule());
  const code = WasmLevels.open(exports, input);
  return code && new KernelLevels(code, input.plan, input.endPs);
}

class WasmLevels implements LevelCode {
  private constructor(
    private readonly exports: DirectoryExports,
    /** Addresses. */
    private readonly job: number,
    private readonly out: number,
    private readonly parts: number,
  ) {}

  static open(exports: DirectoryExports, { plan, startPs, endPs }: LevelInput): WasmLevels | null {
    const job = aligned(exports.__heap_base.value);
    const planAt = aligned(job + Job.LENGTH * 4);
    const scratch = aligned(planAt + plan.words.byteLength);
    if (!reserve(exports, scratch, MAX_BYTES)) return null;
    new Uint32Array(exports.memory.buffer, planAt, plan.words.length).set(plan.words);
    const words = new Uint32Array(exports.memory.buffer, job, Job.LENGTH);
    words[Job.PLAN] = planAt;
    words[Job.START_LO] = Number(startPs & 0xffff_ffffn);
    words[Job.START_HI] = Number(startPs >> 32n);
    words[Job.END_LO] = Number(endPs & 0xffff_ffffn);
    words[Job.END_HI] = Number(endPs >> 32n);
    const scratchSize = exports.directory_scratch_bytes(job) >>> 0;
    const out = aligned(scratch + scratchSize);
    const parts = aligned(out + OUT_BYTES);
    words[Job.SCRATCH] = scratch;
    words[Job.SCRATCH_SIZE] = scratchSize;
    words[Job.OUT] = out;
    words[Job.OUT_SIZE] = OUT_BYTES;
    words[Job.PARTS] = parts;
    if (!reserve(exports, parts, MAX_BYTES)) return null;
    exports.directory_open(job);
    return new WasmLevels(exports, job, out, parts);
  }

  add(parts: Uint8Array, count: number): Uint8Array | null {
    const { exports, job, parts: at } = this;
    if (!reserve(exports, at + parts.length, MAX_BYTES)) return null;
    new Uint8Array(exports.memory.buffer).set(parts, at);
    const words = this.words();
    words[Job.PARTS_SIZE] = parts.length;
    words[Job.NUM_PARTS] = count;
    return exports.directory_add(job) === 0 ? null : this.made();
  }

  finish(endPs: bigint): Uint8Array | null {
    const words = this.words();
    words[Job.END_LO] = Number(endPs & 0xffff_ffffn);
    words[Job.END_HI] = Number(endPs >> 32n);
    return this.exports.directory_finish(this.job) === 0 ? null : this.made();
  }

  private words(): Uint32Array {
    return new Uint32Array(this.exports.memory.buffer, this.job, Job.LENGTH);
  }

  private made(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, this.out, this.words()[Job.MADE]!);
  }
}
