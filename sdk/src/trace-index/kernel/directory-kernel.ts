/** The levels of a directory by compiled code (sdk/kernel/index/directory.h), which makes what `PlainLevels` makes. */
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import type { LevelInput, LevelMaker } from '../made-levels/level-maker.js';
import { LevelPieces } from '../made-levels/level-pieces.js';
import { aligned, compiledModule, type KernelMemory, reserve } from './kernel-module.js';

const OUT_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 512 * 1024 * 1024;
const PART_ENTRY_BYTES = 16;
const PIECE_HEAD_BYTES = 32;
/** What the levels are made of. */
const KINDS: ReadonlySet<number> = new Set([
  IndexPart.TIME,
  IndexPart.ROWS,
  IndexPart.PCS,
  IndexPart.STRINGS,
]);

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

/** null without WebAssembly, or where the schema is too large for it. */
export function compiledLevels(input: LevelInput): LevelMaker | null {
  const module = compiledModule();
  if (!module) return null;
  const exports = new WebAssembly.Instance(module, {}).exports as unknown as DirectoryExports;
  return CompiledLevels.open(exports, input);
}

class CompiledLevels implements LevelMaker {
  private readonly lists: readonly LevelPieces[];

  private constructor(
    private readonly exports: DirectoryExports,
    private readonly cores: number,
    /** Addresses. */
    private readonly job: number,
    private readonly out: number,
    private readonly parts: number,
    lists: number,
  ) {
    this.lists = Array.from({ length: lists }, () => new LevelPieces());
  }

  static open(exports: DirectoryExports, { plan, startPs, endPs }: LevelInput): CompiledLevels | null {
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
    const cores = plan.cores.length;
    return new CompiledLevels(exports, cores, job, out, parts, plan.groups.length + 2 * cores + 1);
  }

  add(parts: readonly IndexPartBytes[] | null): readonly (number | null)[] | null {
    const { exports, cores, out, job } = this;
    if (!this.place(parts ?? []) || exports.directory_add(job) === 0) return null;
    const births = new Float64Array(exports.memory.buffer, out, cores);
    const known = Array.from(births, (count) => (Number.isNaN(count) ? null : count));
    this.take(cores * 8);
    return known;
  }

  finish(): readonly LevelPieces[] | null {
    for (;;) {
      const result = this.exports.directory_finish(this.job);
      if (result === 0) return null;
      this.take(0);
      if (result === 2) return this.lists;
    }
  }

  private place(parts: readonly IndexPartBytes[]): boolean {
    const { exports, job, parts: at } = this;
    const wanted = parts.filter(({ kind }) => KINDS.has(kind));
    const head = wanted.length * PART_ENTRY_BYTES;
    const size = wanted.reduce((sum, { bytes }) => sum + bytes.length, head);
    if (!reserve(exports, at + size, MAX_BYTES)) return false;
    const memory = new Uint8Array(exports.memory.buffer);
    const entries = new Uint32Array(exports.memory.buffer, at, wanted.length * 4);
    let offset = head;
    wanted.forEach(({ kind, subject, bytes }, index) => {
      entries.set([kind, subject, offset, bytes.length], index * 4);
      memory.set(bytes, at + offset);
      offset += bytes.length;
    });
    const words = new Uint32Array(exports.memory.buffer, job, Job.LENGTH);
    words[Job.PARTS_SIZE] = size;
    words[Job.NUM_PARTS] = wanted.length;
    return true;
  }

  /** The pieces that were put out, from an offset on. */
  private take(offset: number): void {
    const { out } = this;
    const { buffer } = this.exports.memory;
    const made = new Uint32Array(buffer, this.job, Job.LENGTH)[Job.MADE]!;
    const view = new DataView(buffer, out, made);
    for (let at = offset; at < made; ) {
      const word = (index: number) => view.getUint32(at + index * 4, true);
      const [list, level, rows, size] = [word(0), word(1), word(2), word(3)];
      const [first, end] = [view.getFloat64(at + 16, true), view.getFloat64(at + 24, true)];
      const pieces = this.lists[list!]!;
      const bytes = new Uint8Array(buffer, out + at + PIECE_HEAD_BYTES, size!).slice();
      if (level === 0) pieces.clear();
      else pieces.add({ level: level!, first, end, rows: rows!, bytes });
      at += PIECE_HEAD_BYTES + Math.ceil(size! / 8) * 8;
    }
  }
}
