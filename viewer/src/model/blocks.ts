/** The instructions born in one segment, as arrays that travel between workers. Cycles are counted from `baseCycle`. */
export interface RowBlock {
  readonly segment: number;
  /** Row of the first: how many instructions were born before it in the whole trace. */
  readonly firstRow: number;
  readonly count: number;
  readonly baseCycle: number;
  /** In order. */
  readonly birth: Uint32Array;
  /** After its last cycle; `UNKNOWN`: in flight at the end of the trace, or further than was looked. */
  readonly end: Uint32Array;
  readonly flags: Uint8Array;
  /** Entity id, reused after the end. */
  readonly id: Uint32Array;
  /** `NO_THREAD`: the trace does not say. */
  readonly thread: Uint8Array;
  /** Index into `statics`. */
  readonly code: Uint32Array;
  /** Three numbers for each distinct instruction: low half of the pc, high half, machine code. */
  readonly statics: Uint32Array;
  /** Where the stages of a row begin in the two arrays below; one more than rows. */
  readonly stageStart: Uint32Array;
  /** Index of the stage; `NO_STAGE` for a value that is none, `NOWHERE` where it is in none until the next one. */
  readonly stage: Uint8Array;
  /** Cycle in which it is entered. */
  readonly stageCycle: Uint32Array;
  readonly dependencies: DependencyColumns;
  readonly notes: NoteColumns;
  /** Stalls of the core, in the order of time. */
  readonly stalls: { readonly cycle: Uint32Array; readonly reason: Uint16Array };
  /** What the numbers of reasons and types and the texts of notes mean. */
  readonly names: readonly string[];
}

/** Sorted by row. */
interface DependencyColumns {
  readonly row: Uint32Array;
  /** Row of the producer in the whole trace; -1: not known. */
  readonly producer: Float64Array;
  readonly type: Uint16Array;
  readonly cycle: Uint32Array;
}

/** What else is known of a row: sorted by row. */
interface NoteColumns {
  readonly row: Uint32Array;
  readonly kind: Uint8Array;
  readonly cycle: Uint32Array;
  /** Index into `names`. */
  readonly text: Uint32Array;
}

/** NAME: an annotation that says what the instruction is (docs/reference/formats/konata.md, kind 0). */
export const NoteKind = { FLUSH: 0, STALL: 1, TRAP: 2, ANNOTATION: 3, NAME: 4 } as const;

export const UNKNOWN = 0xffff_ffff;
export const NO_STAGE = 0xff;
export const NOWHERE = 0xfe;
export const NO_THREAD = 0xff;

/** Without one of the first four it was not followed to its end. */
export const RowFlag = {
  RETIRED: 1,
  SQUASHED: 2,
  LOST: 4,
  IN_FLIGHT: 8,
  ABRIDGED: 16,
  HAS_PC: 32,
  HAS_BITS: 64,
  /** Born before what the trace holds: its birth counts as the beginning. */
  BORN_BEFORE: 128,
} as const;

/** Memory of a block. */
export function blockBytes(block: RowBlock): number {
  return transferables(block).reduce((sum, buffer) => sum + buffer.byteLength, 0) + block.names.length * 64;
}

/** What may be transferred instead of copied. */
export function transferables(block: RowBlock): ArrayBuffer[] {
  const { dependencies, notes, stalls, ...own } = block;
  return [own, dependencies, notes, stalls]
    .flatMap((part) => Object.values(part))
    .filter((value) => ArrayBuffer.isView(value))
    .map((view) => view.buffer as ArrayBuffer);
}

/** First index in a sorted column that is not below a value. */
export function lowerBound(sorted: ArrayLike<number>, value: number, length = sorted.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
