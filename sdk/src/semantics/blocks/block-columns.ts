/** The columns of a block: which there are, how wide, and where in its buffer. In the order of `enum block_columns`. */
import type { CoreEventName, CpuCore } from '../cpu/cores.js';
import type { Delays, InstructionBlock, Ticks, Values } from './block.js';
import type { BlocksKernel } from './kernel/blocks-kernel.js';
import { Shape } from './kernel/layout.js';

const ALIGNMENT = 8;
const SIDE_KINDS = 5;
/** Columns of eight bytes are floating point: those of ticks. */
const FLOAT_BYTES = 8;
/** Words of `struct block_column`. */
const COLUMN_WORDS = 2;

type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Int16Array | Float64Array;

interface ColumnPlace {
  readonly at: number;
  readonly length: number;
  /** 0: there is none. */
  readonly width: number;
}

/** @param shape of `blocks_measure` */
function columnSizes(shape: Uint32Array, has: OptionalColumns): [length: number, width: number][] {
  const n = shape[Shape.ROWS];
  const sides = shape.subarray(Shape.SIDES, Shape.SIDES + SIDE_KINDS);
  const [dependencies, stalls, annotations, flushes, traps] = sides;
  const statics = shape[Shape.STATICS];
  const foreign = shape[Shape.FOREIGN];
  const ticks = shape[Shape.IS_LONG] ? 8 : 4;
  const when = (condition: boolean | number, width: number): number => (condition ? width : 0);
  return [
    [n, ticks],
    [n, ticks],
    [n, 1],
    [n, when(!shape[Shape.IS_IN_SEQUENCE], 4)],
    [n, widthOf(shape[Shape.MAX_ID])],
    [n, when(!shape[Shape.SLOTS_ARE_IDS], widthOf(shape[Shape.MAX_SLOT]))],
    [n, when(shape[Shape.HAS_THREADS], widthOf(shape[Shape.MAX_THREAD]))],
    [n, widthOf(Math.max(statics - 1, 0))],
    [statics, 4],
    [statics, widthOf(shape[Shape.MAX_PC_HI])],
    [statics, 4],
    [statics, 1],
    [n, widthOf(Math.max(shape[Shape.PATHS] - 1, 0))],
    [shape[Shape.PATHS] + 1, 4],
    [shape[Shape.PATH_VALUES], widthOf(shape[Shape.MAX_VALUE])],
    [n + 1, 4],
    [shape[Shape.STAGES], 1],
    [shape[Shape.LONG_STAYS], 4],
    [shape[Shape.LONG_STAYS], 8],
    ...Array.from(sides, (count): [number, number] => [count, widthOf(Math.max(n - 1, 0))]),
    ...Array.from(sides, (count, kind): [number, number] => [count, delayWidth(shape, kind)]),
    [dependencies, 4],
    [dependencies, when(has.dependencyType, widthOf(shape[Shape.MAX_TYPE]))],
    [foreign, 4],
    [foreign, 4],
    [foreign, 1],
    [foreign, 4],
    [foreign, 4],
    [stalls, when(has.stallReason, widthOf(shape[Shape.MAX_STALL]))],
    [annotations, widthOf(shape[Shape.MAX_STRING])],
    [annotations, when(has.annotationKind, 1)],
    [flushes, when(has.flushReason, widthOf(shape[Shape.MAX_FLUSH]))],
    [traps, 1],
    [traps * 6, 4],
  ];
}

/** Delays of 32 bits and more, and negative ones, are floating point. */
function delayWidth(shape: Uint32Array, kind: number): number {
  const at = Shape.MAX_DELAY + kind * 2;
  return shape[at + 1] > 0 ? FLOAT_BYTES : widthOf(shape[at]);
}

interface OptionalColumns {
  readonly dependencyType: boolean;
  readonly stallReason: boolean;
  readonly annotationKind: boolean;
  readonly flushReason: boolean;
}

function widthOf(most: number): number {
  if (most < 0x100) return 1;
  return most < 0x1_0000 ? 2 : 4;
}

export interface BlockOrigin {
  readonly segment: number;
  readonly reachesEnd: boolean;
  /** Births before tracking began; null: not known. */
  readonly base: bigint | null;
  /** Births since then, before the block. */
  readonly births: number;
}

export class BlockColumns {
  /** Bytes of the block's buffer. */
  readonly bytes: number;
  private readonly places: ColumnPlace[];
  private readonly stagesAt: number;

  constructor(
    private readonly core: CpuCore,
    private readonly shape: Uint32Array,
  ) {
    const has = (event: CoreEventName, field: string): boolean =>
      core.events.get(event)?.fields.has(field) ?? false;
    const sizes = columnSizes(shape, {
      dependencyType: has('dependency', 'dep_type'),
      stallReason: has('stall', 'reason'),
      annotationKind: has('annotate', 'kind'),
      flushReason: has('flush', 'reason'),
    });
    let end = 0;
    this.places = sizes.map(([length, width]) => {
      const at = end;
      end = aligned(end + length * width);
      return { at, length, width };
    });
    // The names of stages are not for compiled code: it leaves their place to us.
    this.stagesAt = end;
    this.bytes = aligned(end + shape[Shape.PATH_VALUES] * 2);
  }

  static readonly TABLE_BYTES = 64 * COLUMN_WORDS * 4;

  /** `struct block_column` of each, for columns that begin at an address. */
  writeTable(kernel: BlocksKernel, table: number, begin: number): void {
    const words = kernel.words(table, this.places.length * COLUMN_WORDS);
    this.places.forEach(({ at, width }, index) => {
      words[index * COLUMN_WORDS] = begin + at;
      words[index * COLUMN_WORDS + 1] = width;
    });
  }

  /** @param buffer as the compiled code has filled it */
  toBlock(buffer: ArrayBuffer, { segment, reachesEnd, base }: BlockOrigin): InstructionBlock {
    const { shape } = this;
    const columns = this.places.map((place, index) => columnAt(buffer, place, index));
    let next = 0;
    const take = <T extends Column | null>(): T => columns[next++] as T;
    const u32 = take<Uint32Array>;
    const u8 = take<Uint8Array>;
    const values = take<Values>;
    const maybe = take<Values | null>;
    const ticks = take<Ticks>;
    const word64 = (at: number): bigint => (BigInt(shape[at + 1]) << 32n) | BigInt(shape[at]);
    const [tickPs, baseTick] = [word64(Shape.TICK_PS), word64(Shape.BASE)];
    const rows = {
      birth: ticks(),
      end: ticks(),
      flags: u8(),
      numbers: take<Uint32Array | null>(),
      id: values(),
      slot: maybe(),
      thread: maybe(),
      statics: values(),
    };
    const staticTable = { pcLo: u32(), pcHi: values(), bits: u32(), known: u8() };
    const stages = {
      path: values(),
      pathStart: u32(),
      pathValues: values(),
      stageStart: u32(),
      stageTicks: u8(),
      longStays: { index: u32(), ticks: take<Float64Array>() },
    };
    const sideRows = Array.from({ length: SIDE_KINDS }, values);
    const delays = Array.from({ length: SIDE_KINDS }, take<Delays>);
    const side = (kind: number) => ({ row: sideRows[kind], delay: delays[kind] });
    const dependencies = {
      ...side(0),
      producer: take<Int32Array>(),
      type: maybe(),
      foreign: { at: u32(), on: u32(), known: u8(), pcLo: u32(), pcHi: u32() },
    };
    const stalls = { ...side(1), reason: maybe() };
    const annotations = { ...side(2), string: values(), kind: take<Uint8Array | null>() };
    const flushes = { ...side(3), reason: maybe() };
    const traps = { ...side(4), known: u8(), words: u32() };
    const pathStages = new Int16Array(buffer, this.stagesAt, stages.pathValues.length);
    stages.pathValues.forEach((value, index) => {
      pathStages[index] = this.core.stageOf(value);
    });
    return {
      segment,
      reachesEnd,
      tickPs: Number(tickPs),
      baseTick: Number(baseTick),
      basePs: baseTick * tickPs,
      count: shape[Shape.ROWS],
      firstRow: base === null ? -1 : Number(base) + shape[Shape.FIRST_ORDINAL],
      ...rows,
      staticTable,
      ...stages,
      pathStages,
      dependencies,
      stalls,
      annotations,
      flushes,
      traps,
    };
  }
}

/** Index of the producers' column, which are signed. */
const PRODUCER = 19 + 2 * SIDE_KINDS;

function columnAt(buffer: ArrayBuffer, { at, length, width }: ColumnPlace, index: number): Column | null {
  if (width === 0) return null;
  if (width === FLOAT_BYTES) return new Float64Array(buffer, at, length);
  if (width === 1) return new Uint8Array(buffer, at, length);
  if (width === 2) return new Uint16Array(buffer, at, length);
  return index === PRODUCER ? new Int32Array(buffer, at, length) : new Uint32Array(buffer, at, length);
}

const aligned = (place: number): number => Math.ceil(place / ALIGNMENT) * ALIGNMENT;
