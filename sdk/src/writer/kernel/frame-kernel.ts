/**
 * The writer's inner loop, compiled (sdk/kernel/frame_run.c): the same as FrameRun. The writer's memory holds the
 * shadow state, windows for records, and the frames made of them.
 */
import { RecordKind } from '../../format/record.js';
import { Action } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import type { CutPolicy } from '../cut-policy.js';
import { FrameTaker } from '../frame-taker.js';
import type { SegmentBuffer } from '../segment-buffer.js';
import type { Summarizer } from '../summarizer.js';
import { WASM_BASE64 } from './frame-run-wasm.js';
import type { KernelExports, KernelImports } from './kernel-exports.js';
import { KernelSums, SUM_BYTES } from './kernel-sums.js';
import { openNativeKernel } from './native.js';
import type { WriterMemory } from './writer-memory.js';

/** Records taken at a time; as many as the largest message of the bridge holds. */
const WINDOW_BYTES = 1024 * 1024;
/** One that is taken, or read when it is its turn, and two that are read ahead. */
const WINDOWS = 3;
/** The compiled code may write so far past a frame's end. */
const OUT_SLACK_BYTES = 64;
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
const STORAGE_WORDS = 10;
const OP_WORDS = 14;
/** SET and ADD. */
const OPS_PER_FIELD = 2;
/** Bits of an op that does more than to write a value. */
const ADDS = 1;
const SUMMED = 2;
/** Words of an op. */
const APART = 4;
const SOURCE = 5;
const CELL_BYTES = 8;
/** First half of an event's record. */
const EVENT_WORDS = 2;

let compiled: WebAssembly.Module | null = null;

/**
 * null where FrameRun has to do the work: with a summarizer that does more than add up.
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
  compiled ??= new WebAssembly.Module(Buffer.from(WASM_BASE64, 'base64'));
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory, ...imports } });
  return exports as unknown as KernelExports;
}

function takeWindows(space: WriterMemory): Uint8Array[] {
  const places = Array.from({ length: WINDOWS }, () => space.take(WINDOW_BYTES).byteOffset);
  const { buffer } = space.memory; // all views of one object, by which records are known to be here
  return places.map((at) => new Uint8Array(buffer, at, WINDOW_BYTES));
}

export class FrameKernel extends FrameTaker {
  override readonly windows: readonly Uint8Array[];
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
    super();
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
    const { buffer } = memory;

    state.moveTo(buffer, { cells, mask, occupied });
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
    if (run[Run.DROPPED] !== 0) this.rollBack(this.state, buffer);
  }
}

/** Addresses of what the storages have in common, each its part. */
interface Places {
  readonly cells: number;
  readonly mask: number;
  readonly occupied: number;
  readonly ops: number;
}

/** `struct storage`, in its order. */
function storageRows({ layout }: StorageState, { cells, mask, occupied, ops }: Places): Uint32Array {
  const rows = new Uint32Array(layout.numStorages * STORAGE_WORDS);
  for (let id = 0; id < layout.numStorages; id++) {
    const counts = [layout.numSlots[id], layout.numFields[id], layout.numProperties[id]];
    const addresses = [
      occupied + id * 4,
      cells + layout.cellBase[id] * CELL_BYTES,
      cells + layout.propertyCellBase[id] * CELL_BYTES,
      mask + layout.maskBase[id],
      ops + layout.fieldBase[id] * OPS_PER_FIELD * OP_WORDS * 4,
    ];
    const block = [layout.schema.storages[id].storageId, layout.sparse[id]];
    rows.set([...counts, ...block, ...addresses], id * STORAGE_WORDS);
  }
  return rows;
}

/** Addresses to which the ops refer: those of the storages, of the cells of their slots, and of the op that no record is. */
interface OpPlaces {
  readonly storages: number;
  readonly cells: number;
  readonly none: number;
}

/**
 * `struct op`s in the order of the fields, and behind them the one that no record is. Only SET and ADD of slot fields can be watched:
 * properties and CLEAR are no part of any summary.
 */
function opRows({ layout }: StorageState, sums: KernelSums | null, places: OpPlaces): Uint32Array {
  const { maskLo, maskHi, sizes, fieldBase, numFields, numStorages } = layout;
  const { storages, cells, none } = places;
  const rows = new Uint32Array((sizes.length * OPS_PER_FIELD + 1) * OP_WORDS);
  const learned = [0, 0, 0, none, none];
  const put = (id: number, field: number, action: Action): void => {
    const index = fieldBase[id] + field;
    const cell = cells + (layout.cellBase[id] + field) * CELL_BYTES;
    const head = [RecordKind.OP | (action << 8) | (id << 16), field << 16];
    const apart = action === Action.ADD ? ADDS : 0;
    const row = (index * OPS_PER_FIELD + (action === Action.ADD ? 1 : 0)) * OP_WORDS;
    const storage = storages + id * STORAGE_WORDS * 4;
    rows.set([maskLo[index], maskHi[index], ...head, apart, 0, storage, cell, ...learned], row);
    if (sums?.watchedAction(id, field) !== action || field >= numFields[id]) return;
    rows[row + APART] |= SUMMED;
    rows[row + SOURCE] = sums.source(index);
  };
  for (let id = 0; id < numStorages; id++) {
    for (let field = 0; field < numFields[id] + layout.numProperties[id]; field++) {
      put(id, field, Action.SET);
      put(id, field, Action.ADD);
    }
  }
  const noStorage = storages + numStorages * STORAGE_WORDS * 4;
  rows.set([0, 0, 0, 0, ADDS, 0, noStorage, cells, ...learned], sizes.length * OPS_PER_FIELD * OP_WORDS);
  return rows;
}

function eventRows(payloadSizes: Uint32Array): Uint32Array {
  const rows = new Uint32Array(payloadSizes.length * EVENT_WORDS);
  payloadSizes.forEach((size, type) => {
    rows.set([RecordKind.EVENT | (type << 16), size], type * EVENT_WORDS);
  });
  return rows;
}
