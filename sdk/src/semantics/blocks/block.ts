/**
 * Instructions as columns: one typed array per property instead of one object per instruction. All arrays of a block lie in one `ArrayBuffer`, so that
 * a block moves between workers without being copied: `postMessage(block, transferList(block))`.
 *
 * Times are ticks after `baseTick`. A tick is the period of the core's clock where all times of the block are multiples of it, else a divisor of it.
 */

/** Small unsigned numbers, in the narrowest array that holds them all. */
export type Values = Uint8Array | Uint16Array | Uint32Array;

/** Ticks after `baseTick`; numbers of 64 bits where the block spans 2^32 ticks or more. */
export type Ticks = Uint32Array | Float64Array;

/** Ticks between two things, in the narrowest array; floating point from 2^32 on. */
export type Delays = Values | Float64Array;

/** Bits of `InstructionBlock.flags`. */
export const BlockFlag = {
  /** The two low bits are a `BlockEnd`. */
  END_MASK: 3,
  /** More happened to it than is listed: see `Instruction.isAbridged`. */
  ABRIDGED: 4,
  /** Born before what was looked at: `birth` says nothing. */
  BIRTH_UNKNOWN: 8,
  /** The trace says whether it is compressed. */
  COMPRESSED_KNOWN: 16,
  COMPRESSED: 32,
  /** `thread` says which one it belongs to. */
  HAS_THREAD: 64,
  /** It is in `flushes`, which does not imply that it has ended. */
  FLUSHED: 128,
} as const;

/** How an instruction left: the two low bits of its flags. See `InstructionEnd`. */
export const BlockEnd = { IN_FLIGHT: 0, RETIRED: 1, SQUASHED: 2, LOST: 3 } as const;
export type BlockEnd = (typeof BlockEnd)[keyof typeof BlockEnd];

/** Bits of `StaticTable.known` and of `ForeignProducers.known`. */
export const Known = { PC: 1, BITS: 2 } as const;

/** In `birth`, `end` and `numbers`: none. */
export const NONE = 0xffff_ffff;
/** In `Dependencies.producer`: its number is not known. */
export const NO_PRODUCER = -0x8000_0000;
/** In `stageTicks`: 255 ticks or more; the number of ticks is in `longStays`. */
export const LONG_STAY = 255;

/** The distinct static instructions of a block: address and machine code. */
export interface StaticTable {
  readonly pcLo: Uint32Array;
  readonly pcHi: Values;
  readonly bits: Uint32Array;
  /** `Known`: which of the two the trace says. */
  readonly known: Uint8Array;
}

/** Ticks that do not fit into `stageTicks`, by ascending index. */
export interface LongStays {
  /** Index into `stageTicks`. */
  readonly index: Uint32Array;
  readonly ticks: Float64Array;
}

/** Something that happened to instructions. Sorted by row, and by time within a row: `firstOf` finds the entries of a row. */
export interface SideColumns {
  /** Index of the instruction in the block. */
  readonly row: Values;
  /** Ticks after the birth of the instruction, or after `baseTick` where that is not known: see `sideTick`. */
  readonly delay: Delays;
}

/** Stalls that name an instruction, and flushes (at most one for each instruction). */
export interface Reasons extends SideColumns {
  /** Value of the event's field `reason`; null where the event has none. Labels: `core.events`. */
  readonly reason: Values | null;
}

export interface Annotations extends SideColumns {
  /** Reference into the trace's strings. */
  readonly string: Values;
  /** Value of the event's field `kind`, 255 where it is larger; null where the event has none. */
  readonly kind: Uint8Array | null;
}

/** The producers that are not rows of the block, and all of them where rows have `numbers`. By ascending `at`. */
export interface ForeignProducers {
  /** Index of the dependency. */
  readonly at: Uint32Array;
  /** Entity id of the producer. */
  readonly on: Uint32Array;
  readonly known: Uint8Array;
  readonly pcLo: Uint32Array;
  readonly pcHi: Uint32Array;
}

export interface Dependencies extends SideColumns {
  /**
   * The row of the producer, unless `foreign` lists the dependency: then the difference between its number and `firstRow`, negative for a
   * producer born before the block; `NO_PRODUCER` where its number is not known.
   */
  readonly producer: Int32Array;
  /** Value of the event's field `dep_type`; null where the event has none. */
  readonly type: Values | null;
  readonly foreign: ForeignProducers;
}

export interface Traps extends SideColumns {
  /** Which of cause (1), tval (2) and target (4) the trace has. */
  readonly known: Uint8Array;
  /** For each trap low and high word of cause, tval and target. */
  readonly words: Uint32Array;
}

export interface InstructionBlock {
  /** The segment in which its instructions were born; of a block of a range the segment in which it was completed. */
  readonly segment: number;
  /** Its instructions were followed to the end of the trace: what is IN_FLIGHT has not ended there. False: no further than was looked. */
  readonly reachesEnd: boolean;
  readonly tickPs: number;
  /** Ticks from time 0 to the block's first; exact below 2^53. `basePs` is always exact. */
  readonly baseTick: number;
  readonly basePs: bigint;
  readonly count: number;
  /** Instructions of the core born before the first of the block, in the whole trace; -1: not known. */
  readonly firstRow: number;
  /** For each row its number minus `firstRow`, `NONE` without; null: row i has number `firstRow` + i. */
  readonly numbers: Uint32Array | null;
  readonly birth: Ticks;
  /** `NONE`: in flight, as far as was looked: see `reachesEnd`. */
  readonly end: Ticks;
  /** `BlockFlag` */
  readonly flags: Uint8Array;
  /** Entity ids. */
  readonly id: Values;
  /** Slots of the catalog; null where they equal the ids. */
  readonly slot: Values | null;
  /** See `BlockFlag.HAS_THREAD`; null where no row has one. */
  readonly thread: Values | null;
  /** Index into `staticTable`. */
  readonly statics: Values;
  readonly staticTable: StaticTable;
  /** Index of a sequence of stages: `pathStages` from `pathStart[path]` to `pathStart[path + 1]`. */
  readonly path: Values;
  readonly pathStart: Uint32Array;
  /** Index into the core's `stages`; -1 for a value that is none of them. */
  readonly pathStages: Int16Array;
  /** The values as the trace has them. */
  readonly pathValues: Values;
  /** Index into `stageTicks` of the first stage of each row, and where those of the last end. */
  readonly stageStart: Uint32Array;
  /**
   * Ticks from the entry into the stage before, or from the birth, or from `baseTick` where that is not known. `LONG_STAY`: see `longStays`.
   */
  readonly stageTicks: Uint8Array;
  readonly longStays: LongStays;
  readonly dependencies: Dependencies;
  readonly stalls: Reasons;
  readonly annotations: Annotations;
  readonly flushes: Reasons;
  readonly traps: Traps;
}

/** What to hand to `postMessage` with the block; the block is empty afterwards. */
export function transferList(block: InstructionBlock): ArrayBuffer[] {
  return [block.flags.buffer as ArrayBuffer];
}

/** Bytes of all arrays of a block. */
export function byteSize(block: InstructionBlock): number {
  return block.flags.buffer.byteLength;
}

/** How a row ended. */
export function endOf(block: InstructionBlock, row: number): BlockEnd {
  return (block.flags[row] & BlockFlag.END_MASK) as BlockEnd;
}

/** Ticks after `baseTick`; -1: not known. */
export function birthTick(block: InstructionBlock, row: number): number {
  return (block.flags[row] & BlockFlag.BIRTH_UNKNOWN) !== 0 ? -1 : block.birth[row];
}

/** Ticks after `baseTick`; -1: in flight. */
export function endTick(block: InstructionBlock, row: number): number {
  return endOf(block, row) === BlockEnd.IN_FLIGHT ? -1 : block.end[row];
}

/** Time of a tick of the block. */
export function psOf(block: InstructionBlock, tick: number): bigint {
  const ps = tick * block.tickPs;
  return block.basePs + (Number.isSafeInteger(ps) ? BigInt(ps) : BigInt(tick) * BigInt(block.tickPs));
}

/** Number of an instruction in the whole trace; -1: not known. */
export function rowNumber(block: InstructionBlock, row: number): number {
  const { firstRow, numbers } = block;
  if (firstRow < 0) return -1;
  if (numbers === null) return firstRow + row;
  return numbers[row] === NONE ? -1 : firstRow + numbers[row];
}

/** Stages that a row has entered. */
export function stageCount(block: InstructionBlock, row: number): number {
  return block.stageStart[row + 1] - block.stageStart[row];
}

/** Stage entered as the `i`th: an index into the core's `stages`, -1 for a value that is none. */
export function stageOf(block: InstructionBlock, row: number, i: number): number {
  return block.pathStages[block.pathStart[block.path[row]] + i];
}

/** The value that the trace has for it. */
export function stageValueOf(block: InstructionBlock, row: number, i: number): number {
  return block.pathValues[block.pathStart[block.path[row]] + i];
}

/** When a row entered its `i`th stage, in ticks after `baseTick`. Takes as many steps as `i` says. */
export function stageTick(block: InstructionBlock, row: number, i: number): number {
  const { stageTicks, stageStart } = block;
  let tick = stagesBegin(block, row);
  const first = stageStart[row];
  for (let at = first; at <= first + i; at++) {
    const ticks = stageTicks[at];
    tick += ticks === LONG_STAY ? longStay(block, at) : ticks;
  }
  return tick;
}

/** What the first of `stageTicks`, and all delays of a row, count from: for loops that go through the stages of a row and add them up with `stayTicks`. */
export function stagesBegin(block: InstructionBlock, row: number): number {
  return (block.flags[row] & BlockFlag.BIRTH_UNKNOWN) !== 0 ? 0 : block.birth[row];
}

/** The entry of `stageTicks` at an index, long ones too. */
export function stayTicks(block: InstructionBlock, at: number): number {
  const ticks = block.stageTicks[at];
  return ticks === LONG_STAY ? longStay(block, at) : ticks;
}

function longStay({ longStays }: InstructionBlock, at: number): number {
  return longStays.ticks[lowerBound(longStays.index, at)];
}

/** When an entry of a side array happened, in ticks after `baseTick`. */
export function sideTick(block: InstructionBlock, side: SideColumns, at: number): number {
  return stagesBegin(block, side.row[at]) + side.delay[at];
}

/** Index of the first entry of a row: its entries are from there to `firstOf(side, row + 1)`. */
export function firstOf(side: SideColumns, row: number): number {
  return lowerBound(side.row, row);
}

/** Index of the first number that is not less than `value`, in ascending numbers. */
export function lowerBound(numbers: Values, value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
