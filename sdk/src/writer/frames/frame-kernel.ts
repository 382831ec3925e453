/**
 * The writer's fast path: sdk/kernel/frame_run.c, compiled to WebAssembly or to machine code, takes runs of ordinary frames. Its reference
 * is the plain path (FrameChecker, FrameEncoder), which also takes every frame that is not ordinary. The writer's memory holds the shadow
 * state, windows for records, and the frames made of them.
 *
 * Ordinary means: complete in this message, in order, valid, and no cut due. The loop is optimistic: it encodes and applies while it
 * checks. When a frame turns out not to be ordinary, its encoding is dropped, the state is rebuilt from the segment's checkpoint and
 * the frames before it, and the plain path takes that frame, including any complaint about it. This is rare by construction: frames near
 * the end of a message are looked through for their end before they are tried.
 */
import { instanceOf } from '../../base/webassembly.js';
import type { KernelExports, KernelImports } from '../../native/kernel-exports.js';
import { sharedBuffer } from '../../native/lz4.js';
import { openNativeKernel } from '../../native/native.js';
import type { Steps } from '../../state/steps.js';
import type { StorageState } from '../../state/storage-state.js';
import { bytes } from '../../wasm/frame_run.wasm.js';
import type { CutPolicy } from './cut-policy.js';
import { KernelSums, SUM_BYTES } from './kernel-sums.js';
import {
  EVENT_WORDS,
  eventRows,
  OP_WORDS,
  OPS_PER_FIELD,
  opRows,
  STORAGE_WORDS,
  storageRows,
} from './kernel-tables.js';
import type { SegmentBuffer } from './segment-buffer.js';
import type { Summarizer } from './summarizer.js';
import { replaySteps } from './turns.js';
import type { WriterMemory } from './writer-memory.js';

/** Records taken at a time; as many as the largest message of the bridge holds. */
const WINDOW_BYTES = 1024 * 1024;
/** One that is taken, or read when it is its turn, and two that are read ahead. */
const WINDOWS = 3;
/** The compiled code may write so far past a frame's end. */
const OUT_SLACK_BYTES = 64;
/** Words before the end of a message in which no frame is tried that may be cut, at first: 128 records. */
const FIRST_MARGIN_WORDS = 512;
const WORD = 2 ** 32;

/** Words of `struct run`, in its order. */
enum Run {
  WORDS,
  OUT,
  STORAGES,
  EVENTS,
  NUM_STORAGES,
  NUM_EVENTS,
  SUMS,
  TOUCHED,
  NUM_SUMS,
  NUM_TOUCHED,
  END,
  MARGIN_BEGIN,
  SOFT_LIMIT,
  HARD_LIMIT,
  BEGIN,
  COMPACT,
  OUT_LENGTH,
  FRAMES,
  ACTIVE_FRAMES,
  ITEMS,
  DROPPED,
  NONE,
  GRID_LO,
  GRID_HI,
  LAST_LO,
  LAST_HI,
  ORDINAL_LO,
  ORDINAL_HI,
  LENGTH,
}

let compiled: WebAssembly.Module | null = null;

/**
 * null with a summarizer that does more than add up: then the plain path does the work.
 * @param native machine code, where there is any
 */
export function createFrameKernel(
  memory: WriterMemory,
  state: StorageState,
  summarizer: Summarizer | null,
  payloadSizes: Uint32Array,
  native: boolean,
): FrameKernel | null {
  if (summarizer !== null && !summarizer.cycleSums) return null;
  return new FrameKernel(memory, state, summarizer, payloadSizes, native);
}

function openWasmKernel(memory: WebAssembly.Memory, imports: KernelImports): KernelExports {
  compiled ??= new WebAssembly.Module(bytes());
  return instanceOf(compiled, { env: { memory, ...imports } });
}

function takeWindows(space: WriterMemory): Uint8Array[] {
  const places = Array.from({ length: WINDOWS }, () => space.take(WINDOW_BYTES).byteOffset);
  const { buffer } = space.memory; // all views of one object, by which records are known to be here
  return places.map((at) => new Uint8Array(buffer, at, WINDOW_BYTES));
}

export class FrameKernel {
  /** Time of the last frame, ps as u32 halves; in and out. */
  lastLo = 0;
  lastHi = 0;
  /** Ordinal of the next frame; in and out. */
  ordinal = 0;
  /** Items taken by the last call. */
  items = 0;
  /** How often a frame had to be taken back. */
  rollbacks = 0;
  /** What the state needs before anything else: it was changed by a frame that was taken back. The caller does it, and sets this to null. */
  rebuilding: Steps | null = null;
  /** Where STRING records inside frames go. */
  onString: (words: Uint32Array, record: number) => void = () => {};
  /** A frame that begins in this many last words of a message is tried only if it is known to end there. */
  margin = FIRST_MARGIN_WORDS;
  /** Where records are best put before they are given to `take`, each for one message: it then need not copy them. */
  readonly windows: readonly Uint8Array[];
  /** The loop is machine code, not WebAssembly. */
  readonly isNative: boolean;
  private readonly run: Uint32Array;
  /** The first window: where records are copied to that are in none. null: they are taken where they are, by machine code. */
  private readonly words: Uint32Array | null;
  private readonly frameRun: (run: number, records: Uint32Array) => void;
  private readonly runAt: number;
  /** The message being taken, and where in it the compiled code begins to count. */
  private source: Uint32Array = new Uint32Array(0);
  private sourceFirst = 0;

  /** What the writer's plain path feeds instead of the summarizer given. */
  readonly summarizer: Summarizer | null;

  /** Moves the state's arrays, and the summarizer's open sums, into its memory. */
  constructor(
    space: WriterMemory,
    private readonly state: StorageState,
    summarizer: Summarizer | null,
    payloadSizes: Uint32Array,
    native: boolean,
  ) {
    const { layout } = state;
    this.runAt = space.place(Run.LENGTH * 4);
    const storages = space.place((layout.numStorages + 1) * STORAGE_WORDS * 4); // the last one has no slots
    const ops = space.place((layout.sizes.length * OPS_PER_FIELD + 1) * OP_WORDS * 4);
    const none = ops + layout.sizes.length * OPS_PER_FIELD * OP_WORDS * 4;
    const events = space.place(payloadSizes.length * EVENT_WORDS * 4);
    const cells = space.place(state.cells.byteLength);
    const mask = space.place(state.mask.byteLength);
    const occupied = space.place(state.occupied.byteLength);
    const numSums = summarizer?.cycleSums?.fields.length ?? 0;
    const sums = space.place(numSums * SUM_BYTES);
    const touched = space.place(numSums * 4);
    const { memory } = space;
    const buffer = sharedBuffer(memory);

    state.moveTo(buffer, { cells, mask, occupied }, true);
    new Uint32Array(buffer, storages).set(storageRows(state, { cells, mask, occupied, ops }));
    const kernelSums = summarizer?.cycleSums
      ? new KernelSums(
          summarizer,
          summarizer.cycleSums,
          layout,
          new Uint32Array(buffer, sums, (numSums * SUM_BYTES) / 4),
          this.runAt,
        )
      : null;
    this.summarizer = kernelSums;
    new Uint32Array(buffer, ops).set(opRows(state, kernelSums, { storages, cells, none }));
    new Uint32Array(buffer, events).set(eventRows(payloadSizes));
    this.run = new Uint32Array(buffer, this.runAt, Run.LENGTH);
    this.run.set([0, 0, storages, events]);
    this.run.set([layout.numStorages, payloadSizes.length, sums, touched, numSums], Run.NUM_STORAGES);
    this.run[Run.COMPACT] = 1;
    this.run[Run.NONE] = none;

    const imports: KernelImports = {
      take_string: (word) => this.onString(this.source, this.sourceFirst + word),
      take_bucket: (source) => kernelSums?.takeBucket(source),
    };
    const machineCode = native ? openNativeKernel(buffer, this.runAt, imports) : null;
    this.isNative = machineCode !== null;
    const exports = machineCode ?? openWasmKernel(memory, imports);
    kernelSums?.bind(exports);
    this.frameRun = exports.frame_run;
    state.packer = (address) => exports.encode_checkpoint(this.runAt, address);
    this.windows = this.isNative ? [] : takeWindows(space);
    const [first] = this.windows;
    this.words = first ? new Uint32Array(first.buffer, first.byteOffset, WINDOW_BYTES / 4) : null;
  }

  /**
   * Takes ordinary frames from `words[first]` on; returns the first word it did not take. The segment must have a frame already, so
   * that deltas count from the last frame.
   */
  take(
    words: Uint32Array,
    first: number,
    endOfWords: number,
    buffer: SegmentBuffer,
    policy: CutPolicy,
  ): number {
    const { run } = this;
    const end = Math.min(endOfWords, first + WINDOW_BYTES / 4);
    this.items = 0;
    if (first >= end) return first;
    const shift = this.place(words, first, end);
    run[Run.BEGIN] = first - shift;
    run[Run.END] = end - shift;
    run[Run.MARGIN_BEGIN] = Math.max(first, end - this.margin) - shift;
    buffer.reserve((end - first) * 4 + OUT_SLACK_BYTES);
    run[Run.OUT] = buffer.bytes.byteOffset + buffer.length;
    run[Run.SOFT_LIMIT] = Math.max(0, policy.softLimit - buffer.length);
    run[Run.HARD_LIMIT] = Math.max(0, policy.hardLimit - buffer.length);
    run[Run.GRID_LO] = policy.nextLo;
    run[Run.GRID_HI] = policy.nextHi;
    run[Run.LAST_LO] = this.lastLo;
    run[Run.LAST_HI] = this.lastHi;
    run[Run.ORDINAL_LO] = this.ordinal;
    run[Run.ORDINAL_HI] = this.ordinal / WORD;
    this.frameRun(this.runAt, words);
    this.finish(buffer);
    return run[Run.BEGIN] + shift;
  }

  /** Makes sure that the compiled code can have the records; returns by how many words they lie further on in `words` than there. */
  private place(words: Uint32Array, first: number, end: number): number {
    this.source = words;
    this.sourceFirst = this.words === null ? 0 : this.placeInWindow(this.words, words, first, end);
    return this.sourceFirst;
  }

  private placeInWindow(window: Uint32Array, words: Uint32Array, first: number, end: number): number {
    const here = words.buffer === window.buffer;
    if (!here) window.set(words.subarray(first, end));
    this.run[Run.WORDS] = here ? words.byteOffset : window.byteOffset;
    return here ? 0 : first;
  }

  private finish(buffer: SegmentBuffer): void {
    const { run } = this;
    buffer.length += run[Run.OUT_LENGTH];
    buffer.numFrames += run[Run.FRAMES];
    buffer.numActiveFrames += run[Run.ACTIVE_FRAMES];
    this.lastLo = run[Run.LAST_LO];
    this.lastHi = run[Run.LAST_HI];
    this.ordinal = run[Run.ORDINAL_LO] + run[Run.ORDINAL_HI] * WORD;
    this.items = run[Run.ITEMS];
    if (run[Run.DROPPED] !== 0) this.rollBack(buffer);
  }

  /** Takes back what a frame did to the state that is not in the buffer. The next messages keep more distance from their end. */
  private rollBack({ checkpoint, bytes, length, timeStartPs }: SegmentBuffer): void {
    this.rollbacks++;
    this.margin = Math.max(this.margin, FIRST_MARGIN_WORDS) * 4;
    const raw = bytes.subarray(0, length);
    this.rebuilding = replaySteps(this.state, { checkpoint, raw, timeStartPs });
  }
}
