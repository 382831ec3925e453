/** What the compiled loops offer and need, be they WebAssembly or machine code (sdk/kernel/frame_run.h, lz4.h). */

/** `run` is the address of its `struct run`. */
export interface KernelExports extends SumExports {
  /** @param records to which the run's words refer; WebAssembly takes those at its member `words` instead */
  frame_run(run: number, records: Uint32Array): void;
  /** The checkpoint of the run's state at the address `target`, with some bytes of slack after it. */
  encode_checkpoint(run: number, target: number): void;
}

export interface SumExports {
  sums_add(run: number, source: number, lo: number, hi: number): void;
  sums_end_frame(run: number, lo: number, hi: number): void;
  sums_abort_frame(run: number): void;
  sums_close(run: number): void;
}

export interface KernelImports {
  /** The STRING record at this word of the records being taken. */
  take_string(word: number): void;
  /** The bucket of this source is full or closed. */
  take_bucket(source: number): void;
}

/** (table, source, size, target) -> size of the block; the first, second and fourth are addresses. */
export type Lz4Compress = (table: number, source: number, size: number, target: number) => number;
