/** The instructions of a core followed by compiled code, a segment at a time: what `Tracker` does with objects. */

import { interleavedFrames } from '../../format/interleave.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import type { CatalogState } from '../common/catalog-checkpoint.js';
import type { CoreEntities, CpuCore } from '../cpu/cores.js';
import type { InstructionBlock } from './block.js';
import { BlockColumns, type BlockOrigin } from './block-columns.js';
import type { BlocksKernel, Region } from './kernel/blocks-kernel.js';
import { Bytes, Items, MAX_EARLY, Need, Plan, Result, Row, Shape, SLOTS, Tracker } from './kernel/layout.js';
import { type Follows, trackerPlan } from './tracker-plan.js';

const MAX_U64 = (1n << 64n) - 1n;
const LOW = 0xffff_ffffn;
const FIRST_ENTRIES = 4096;
const FIRST_PENDING = 64;
/** Bytes of a segment that are copied at once: of a large one there is no second copy. Any item is shorter. */
const WINDOW_BYTES = 16 * 1024 * 1024;

/** Memory that grows: place and capacity in `struct tracker`, number in use. */
interface Growing {
  readonly region: Region;
  readonly place: number;
  readonly capacity: number;
  readonly used: number;
  readonly bytes: number;
  readonly need: number;
}

export interface TrackerRange {
  readonly from: bigint;
  readonly to: bigint | undefined;
  /** Of the stages outside of the range only the last one before and the last one behind are kept. */
  readonly onlyItsStages: boolean;
}

export class KernelTracker {
  private readonly at: number;
  private readonly itemsAt: number;
  private readonly needAt: number;
  private readonly shapeAt: number;
  private readonly tableAt: number;
  private readonly takenAt: number;
  private readonly listedAt: number;
  private readonly growing: readonly Growing[];
  private readonly marks: Region;
  private readonly ids: Region;
  private readonly deltas: Region;
  private readonly scratch: Region;
  private readonly output: Region;
  private readonly slots: number;
  /** The present segment's frames, and which of them are in the memory. */
  private frames: Uint8Array = new Uint8Array(0);
  private window = { from: 0, to: 0 };

  constructor(
    private readonly kernel: BlocksKernel,
    trace: Trace,
    private readonly core: CpuCore,
    private readonly entities: CoreEntities,
    adoptsStrangers: boolean,
    follows: Follows = 'all',
  ) {
    const plan = trackerPlan(trace, core, entities, adoptsStrangers, follows);
    this.slots = plan.slots;
    const place = (bytes: number): number => kernel.place(bytes).at;
    this.at = place(Tracker.WORDS * 4);
    this.itemsAt = place(Items.WORDS * 4);
    this.needAt = place(Need.WORDS * 4);
    this.shapeAt = place(Shape.WORDS * 4);
    this.tableAt = place(BlockColumns.TABLE_BYTES);
    this.takenAt = place(Math.ceil(plan.slots / 8));
    this.listedAt = place(plan.slots * Bytes.LISTED);
    const planAt = place(Plan.WORDS * 4);
    const kindsAt = place(plan.eventKinds.length);
    const sizesAt = place(plan.eventSizes.byteLength);
    const bySlotAt = place(SLOTS * 4);
    const earlyAt = place(MAX_EARLY * Bytes.EARLY);
    const growing = (
      place: number,
      capacity: number,
      used: number,
      bytes: number,
      need: number,
      first: number,
    ): Growing => ({ region: kernel.place(first * bytes), place, capacity, used, bytes, need });
    const T = Tracker;
    this.growing = [
      growing(T.ROWS, T.ROWS_CAPACITY, T.NUM_ROWS, Bytes.ROW, Need.ROWS, FIRST_ENTRIES),
      growing(T.STAGES, T.STAGES_CAPACITY, T.NUM_STAGES, Bytes.STAGE, Need.STAGES, FIRST_ENTRIES * 4),
      growing(T.SIDES, T.SIDES_CAPACITY, T.NUM_SIDES, Bytes.SIDE, Need.SIDES, FIRST_ENTRIES),
      growing(T.PENDING, T.PENDING_CAPACITY, T.NUM_PENDING, Bytes.ROW, Need.PENDING, FIRST_PENDING),
    ];
    this.marks = kernel.place(FIRST_ENTRIES * Bytes.MARK);
    this.ids = kernel.place(powerOfTwo(plan.slots * 4) * Bytes.ID);
    this.deltas = kernel.place(1 << 16);
    this.scratch = kernel.place(1 << 16);
    this.output = kernel.place(1 << 16);
    kernel.words(planAt, Plan.WORDS).set(plan.words);
    kernel.words(planAt, Plan.WORDS).set([kindsAt, sizesAt], Plan.EVENT_KINDS);
    new Uint8Array(kernel.buffer, kindsAt).set(plan.eventKinds);
    new Uint32Array(kernel.buffer, sizesAt).set(plan.eventSizes);
    kernel.words(this.itemsAt, Items.WORDS).fill(0);
    kernel.words(this.itemsAt, Items.WORDS).set([plan.eventSizes.length, sizesAt], Items.NUM_EVENTS);
    const words = this.words();
    words.fill(0);
    words[T.PLAN] = planAt;
    words[T.BY_SLOT] = bySlotAt;
    words[T.EARLY] = earlyAt;
    words[T.IDS_CAPACITY] = this.ids.bytes / Bytes.ID;
    words.fill(0xffff_ffff, T.TO, T.TO + 2);
    this.connect();
    kernel.code.tracker_reset(this.at);
  }

  get rows(): number {
    return this.words()[Tracker.NUM_ROWS];
  }

  get births(): number {
    return this.words()[Tracker.BIRTHS];
  }

  get inFlight(): number {
    return this.words()[Tracker.IN_FLIGHT];
  }

  /** The end of the range, and pauses whenever a batch has ended. */
  setRange({ from, to, onlyItsStages }: TrackerRange): void {
    const words = this.words();
    const end = to === undefined || to > MAX_U64 ? MAX_U64 : to;
    words.set(halves(from), Tracker.FROM);
    words.set(halves(end), Tracker.TO);
    words[Tracker.STAGE_RANGE] = Number(onlyItsStages);
    words[Tracker.STOPS_AT_FRAMES] = 1;
  }

  stopBirths(): void {
    this.words()[Tracker.ACCEPTS_BIRTHS] = 0;
  }

  /** The instructions in flight where a segment begins, by its checkpoint; of a later segment than the first only what the frames do not say. */
  listed(state: CatalogState, timePs: bigint, isFirst: boolean): void {
    const { kernel, slots } = this;
    const taken = new Uint8Array(kernel.buffer, this.takenAt, Math.ceil(slots / 8));
    const values = new BigUint64Array(kernel.buffer, this.listedAt, (slots * Bytes.LISTED) / 8);
    const { idField, pcField, bitsField, compressedField, threadField } = this.entities;
    const fields = [idField, pcField, bitsField, compressedField, threadField];
    taken.fill(0);
    for (let slot = 0; slot < slots; slot++) {
      if (!state.isTaken(slot)) continue;
      taken[slot >> 3] |= 1 << (slot & 7);
      fields.forEach((field, index) => {
        values[slot * fields.length + index] = field < 0 ? 0n : state.value(slot, field);
      });
    }
    this.repeated(() =>
      kernel.code.tracker_continue(
        this.at,
        this.takenAt,
        this.listedAt,
        timePs,
        Number(isFirst),
        this.needAt,
      ),
    );
  }

  /** A segment's frames come next. */
  begin(segment: LoadedSegment): void {
    this.frames = interleavedFrames(segment);
    this.copyFrom(0);
    const items = this.kernel.words(this.itemsAt, Items.WORDS);
    items[Items.ITEMS_LEFT] = 0;
    items.set(halves(segment.header.timeStartPs), Items.TIME);
  }

  /** Follows frames until something is to be done: see `Result`. */
  run(maxBytes: number): Result {
    const { code } = this.kernel;
    const result = this.repeated(() => code.tracker_run(this.at, this.itemsAt, maxBytes, this.needAt));
    const isAtBorder = result === Result.MORE || result === Result.IRREGULAR;
    if (!isAtBorder || this.window.to === this.frames.length) return result;
    // What looks like damage may be an item that the window has cut.
    const done = this.kernel.words(this.itemsAt, Items.WORDS)[Items.AT];
    if (done === 0) return result;
    this.copyFrom(this.window.from + done);
    return Result.SLICE;
  }

  private copyFrom(from: number): void {
    const { kernel, frames } = this;
    const to = Math.min(frames.length, from + WINDOW_BYTES);
    kernel.enlarge(this.deltas, to - from, 0);
    new Uint8Array(kernel.buffer, this.deltas.at).set(frames.subarray(from, to));
    kernel.words(this.itemsAt, Items.WORDS).set([this.deltas.at, to - from, 0]);
    this.window = { from, to };
  }

  /** Where the compiled code stopped, for the cursor that says what is wrong there. */
  get place(): { offset: number; itemsLeft: number; timeLo: number; timeHi: number } {
    const items = this.kernel.words(this.itemsAt, Items.WORDS);
    return {
      offset: this.window.from + items[Items.AT],
      itemsLeft: items[Items.ITEMS_LEFT],
      timeLo: items[Items.TIME],
      timeHi: items[Items.TIME + 1],
    };
  }

  unfollow(): void {
    this.kernel.code.tracker_unfollow(this.at);
  }

  /** `run` pauses when none of the first rows is in flight any more. */
  watch(rows: number): void {
    this.kernel.code.tracker_watch(this.at, rows);
  }

  /** Those of the first rows that are in flight, as of `watch`. */
  get watched(): number {
    return this.words()[WATCH];
  }

  /** How the first rows ended that were born since the beginning, in order of birth: a `BlockEnd` each. For trackers that have not handed out any. */
  ends(births: number): Uint8Array {
    const { rows } = this;
    const at = this.words()[Tracker.ROWS];
    const view = new DataView(this.kernel.buffer, at, rows * Bytes.ROW);
    const ends = new Uint8Array(births);
    for (let row = 0; row < rows; row++) {
      const ordinal = view.getUint32(row * Bytes.ROW + Row.ORDINAL, true);
      if (ordinal < births) ends[ordinal] = view.getUint8(row * Bytes.ROW + Row.HOW);
    }
    return ends;
  }

  /** Hands out the first rows. */
  takeFirst(rows: number, origin: BlockOrigin): InstructionBlock {
    const { code } = this.kernel;
    this.provideMarks();
    const taken = code.tracker_take_first(this.at, rows);
    return this.handOut(taken, origin);
  }

  /** Hands out what may be in order of birth, with `all` everything; null where that is nothing. */
  async take(
    all: boolean,
    maxHeld: number,
    from: bigint,
    origin: Pick<BlockOrigin, 'segment' | 'reachesEnd'>,
    base: () => Promise<bigint | null>,
  ): Promise<InstructionBlock | null> {
    const { code } = this.kernel;
    this.provideMarks();
    const start = from > MAX_U64 ? MAX_U64 : from;
    const taken = code.tracker_take(this.at, Number(all), maxHeld, start, this.shapeAt);
    const dropped = this.kernel.words(this.shapeAt, 1)[0];
    if (taken > 0) {
      const births = await base();
      return this.handOut(taken, { ...origin, base: births, births: 0 });
    }
    if (dropped > 0) code.tracker_remove(this.at);
    return null;
  }

  private handOut(taken: number, origin: BlockOrigin): InstructionBlock {
    const { kernel, at } = this;
    const { code } = kernel;
    kernel.enlarge(this.scratch, code.blocks_scratch(at, taken), 0);
    code.blocks_measure(at, taken, origin.births, this.scratch.at, this.shapeAt);
    const columns = new BlockColumns(this.core, kernel.words(this.shapeAt, Shape.WORDS).slice());
    kernel.enlarge(this.output, columns.bytes, 0);
    columns.writeTable(kernel, this.tableAt, this.output.at);
    code.blocks_write(at, this.scratch.at, this.shapeAt, this.tableAt);
    const buffer = kernel.buffer.slice(this.output.at, this.output.at + columns.bytes);
    code.tracker_remove(at);
    return columns.toBlock(buffer, origin);
  }

  private words(): Uint32Array {
    return this.kernel.words(this.at, Tracker.WORDS);
  }

  private provideMarks(): void {
    this.kernel.enlarge(this.marks, this.rows * Bytes.MARK, 0);
    this.words()[Tracker.MARKS] = this.marks.at;
  }

  /** Calls compiled code again with more memory, as long as it wants some. */
  private repeated(call: () => number): Result {
    for (;;) {
      const result = call() as Result;
      if (result !== Result.ROOM) return result;
      this.grow();
    }
  }

  private grow(): void {
    const { kernel } = this;
    const need = kernel.words(this.needAt, Need.WORDS).slice();
    for (const { region, used, bytes, need: index } of this.growing) {
      const inUse = this.words()[used];
      kernel.enlarge(region, (inUse + need[index]) * bytes, inUse * bytes);
    }
    // Only powers of two are capacities.
    const ids = powerOfTwo(need[Need.IDS] * 2);
    if (ids > this.words()[Tracker.IDS_CAPACITY]) {
      kernel.enlarge(this.ids, ids * Bytes.ID, 0);
      this.words()[Tracker.IDS_CAPACITY] = ids;
      this.connect();
      kernel.code.tracker_rebuild_ids(this.at);
    } else this.connect();
  }

  private connect(): void {
    const words = this.words();
    for (const { region, place, capacity, bytes } of this.growing) {
      words[place] = region.at;
      words[capacity] = Math.floor(region.bytes / bytes);
    }
    words[Tracker.IDS] = this.ids.at;
  }
}

/** `watch` of `struct tracker` */
const WATCH = 30;

function halves(value: bigint): [number, number] {
  return [Number(value & LOW), Number((value >> 32n) & LOW)];
}

/** The least one that is not below a number. */
function powerOfTwo(least: number): number {
  let power = 64;
  while (power < least) power *= 2;
  return power;
}
