/** The compiled loops over logs of pipelines (sdk/kernel/pipeline) with their memory, for one pass over one log. */
import { compiledOnce, instanceOf } from '../../../base/compiled-code.js';
import { MAX_STRING_BYTES } from '../../../format/record.js';
import type { PipelineIds } from '../core-records.js';
import { WASM_BASE64 } from './pipeline-wasm.js';

const LF = 10;
/** As sdk/kernel/pipeline/bytes.h has it. */
const TEXT_BYTES = 1024 * 1024;

/** Addresses of structures are those of the C files, which have the order of their members. */
export interface PipelineExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  text_at(): number;
  spare_text_at(): number;
  words_at(): number;
  words_length(): number;
  words_clear(): void;
  is_full(): number;
  frame_close(): void;
  finish(): void;
  core_at(): number;
  command_at(): number;
  kanata_scan(text: number, size: number): number;
  kanata_scan_command(command: number): number;
  kanata_scan_at(): number;
  kanata_copy(text: number, size: number): number;
  kanata_copy_command(command: number): number;
  kanata_copy_at(): number;
  kanata_add_stage(text: number, size: number): number;
  kanata_set_pc(slot: number, pc: bigint): void;
  kanata_close_pc(id: bigint): void;
  gem5_scan(text: number, size: number): number;
  gem5_scan_add(start: number, end: number, size: number): void;
  gem5_scan_at(): number;
  gem5_copy(text: number, size: number): number;
  gem5_block_at(): number;
  gem5_copy_block(): number;
  gem5_advance(isEnd: number): number;
  gem5_copy_at(): number;
  gem5_copy_limits(count: number, window: number): number;
}

const compiled = compiledOnce(WASM_BASE64);

/** Null where there is no WebAssembly: the plain path does the work. */
export function createPipelineKernel(): PipelineKernel | null {
  const module = compiled();
  return module && new PipelineKernel(module);
}

/** Also the records that were made, on their way to a writer. */
export class PipelineKernel {
  readonly code: PipelineExports;
  /** What of a piece of text is in the memory. */
  private piece: Uint8Array | null = null;
  private from = 0;
  private to = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private all: DataView = new DataView(new ArrayBuffer(0));
  private allWords: Uint32Array = new Uint32Array(0);

  constructor(module: WebAssembly.Module) {
    this.code = instanceOf(module);
  }

  /** All of the memory. It grows with what is in flight: to be asked for after each call. */
  get view(): DataView {
    this.refresh();
    return this.all;
  }

  get words(): Uint32Array {
    this.refresh();
    const at = this.code.words_at();
    if (this.allWords.buffer !== this.all.buffer || this.allWords.byteOffset !== at)
      this.allWords = new Uint32Array(this.all.buffer, at);
    return this.allWords;
  }

  get length(): number {
    return this.code.words_length();
  }

  /** Whether the records are to be pushed, after `code.frame_close`. */
  get isFull(): boolean {
    return this.code.is_full() !== 0;
  }

  clear(): void {
    this.code.words_clear();
  }

  /**
   * Gives the whole lines in `bytes[from, end)` to compiled code, which returns how many bytes it took. Ends where it took less, or when records
   * are to be pushed.
   * @returns where the first line begins that was not taken
   */
  takeLines(
    bytes: Uint8Array,
    from: number,
    end: number,
    take: (text: number, size: number) => number,
  ): number {
    let at = from;
    while (at < end) {
      this.load(bytes, at, end);
      const there = this.to - at;
      if (there <= 0) return at;
      const taken = take(this.code.text_at() + at - this.from, there);
      at += taken;
      if (taken < there || this.isFull) return at;
    }
    return at;
  }

  /** Bytes of a command or a block, at the address that is returned; of more than a string may have only the first ones. */
  putText(bytes: Uint8Array, from: number, to: number): number {
    this.refresh();
    const address = this.code.spare_text_at();
    this.bytes.set(bytes.subarray(from, Math.min(to, from + MAX_STRING_BYTES)), address);
    return address;
  }

  /** The core whose records are to be made. @param slots instructions in flight at a time, at most */
  setCore(ids: PipelineIds, slots: number, flushReason: number, dependencyTypes: number): void {
    const { stageTransition, annotate, dependency, flush, retire, laneStart, laneEnd, lateDependency } = ids;
    const events = [stageTransition, annotate, dependency, flush, retire, laneStart, laneEnd, lateDependency];
    const { entities, committed, entityId, pc, threadId, gid, logId } = ids;
    this.refresh();
    this.allAt(this.code.core_at()).set([
      ...[slots, entities, committed, entityId, pc, threadId, gid, logId, flushReason, dependencyTypes],
      ...events.flatMap(({ id, size }) => [id, size]),
    ]);
  }

  private allAt(address: number): Uint32Array {
    return new Uint32Array(this.code.memory.buffer, address);
  }

  private refresh(): void {
    const { buffer } = this.code.memory;
    if (this.all.buffer === buffer) return;
    this.all = new DataView(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  /** Whole lines from `at` on. A line that is too long for the memory is not there then. */
  private load(bytes: Uint8Array, at: number, end: number): void {
    if (this.piece === bytes && at >= this.from && at < this.to) return;
    this.refresh();
    const limit = at + TEXT_BYTES;
    const to = limit >= end ? end : bytes.lastIndexOf(LF, limit - 1) + 1;
    this.piece = bytes;
    this.from = at;
    this.to = Math.max(at, to);
    this.bytes.set(bytes.subarray(at, this.to), this.code.text_at());
  }
}
