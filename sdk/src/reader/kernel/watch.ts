/** What is looked for in the ordinary frames of a segment, by the compiled loop (sdk/kernel/reader/watch.c). */
import type { FrameCursor } from '../../format/frame.js';
import { packedSize, type Schema } from '../../format/types.js';
import type { SegmentKernel } from './segment-kernel.js';

/** Words of `struct watch`, in its order. */
enum Run {
  BYTES,
  END,
  LIMITS,
  NUM_STORAGES,
  EVENT_SIZES,
  NUM_EVENTS,
  AT,
  ITEMS_LEFT,
  FRAMES,
  COUNT,
  TIME_LO,
  TIME_HI,
  UNTIL_LO,
  UNTIL_HI,
  STORAGE,
  TAKEN,
  EVENT,
  LABEL,
  WANTED,
  PADDING,
  FROM_LO,
  FROM_HI,
  TIMES,
  SLOTS,
  CAPACITY,
  LENGTH,
}
const LIMIT_WORDS = 3;
const NONE = 0xffff_ffff;
const MAX_WORD = 0xffff_ffffn;
const MAX_SLOTS = 0x1_0000;
const LABELS = 256;
/** Room for what is found before it is taken out. */
const CAPACITY = 8192;

/** Either is looked for. */
export interface Watched {
  readonly storageId?: number | undefined;
  /** One byte per slot of the storage, 1: taken where the segment begins. Changed. */
  readonly taken?: Uint8Array | undefined;
  readonly eventType?: number | undefined;
  /** Offset of a byte in the payload, and the values that are wanted: 1 each. */
  readonly label?: { readonly offset: number; readonly wanted: Uint8Array } | undefined;
  /** Events before this time are not wanted; nothing after `untilPs` is. */
  readonly fromPs?: bigint | undefined;
  readonly untilPs?: bigint | undefined;
}

/** What the loop gets about a schema, and where it lies in a kernel's memory. */
export class WatchPlan {
  /** Bytes of a kernel's space. */
  readonly space: number;
  private readonly limits: Uint32Array;
  private readonly eventSizes: Uint32Array;
  /** From `spaceAt` on. */
  private readonly places: Record<
    'run' | 'times' | 'slots' | 'taken' | 'wanted' | 'limits' | 'events',
    number
  >;

  constructor({ storages, events }: Schema) {
    this.limits = Uint32Array.from(
      storages.flatMap(({ numSlots, fields, properties }) => [numSlots, fields.length, properties.length]),
    );
    this.eventSizes = Uint32Array.from(events, ({ fields }) => packedSize(fields));
    let end = 0;
    const place = (bytes: number): number => {
      const at = end;
      end += Math.ceil(bytes / 8) * 8;
      return at;
    };
    this.places = {
      run: place(Run.LENGTH * 4),
      times: place(CAPACITY * 8),
      slots: place(CAPACITY * 2),
      taken: place(MAX_SLOTS),
      wanted: place(LABELS),
      limits: place(this.limits.byteLength),
      events: place(this.eventSizes.byteLength),
    };
    this.space = end;
  }

  /** null: there is no room for this number of frames. @param deltas interleaved frames */
  enter(kernel: SegmentKernel, deltas: Uint8Array, watched: Watched): KernelWatch | null {
    const bytes = kernel.place(deltas);
    if (bytes === 0) return null;
    const { limits, eventSizes, places } = this;
    const { buffer } = kernel;
    const at = (place: keyof typeof places): number => kernel.spaceAt + places[place];
    new Uint32Array(buffer, at('limits'), limits.length).set(limits);
    new Uint32Array(buffer, at('events'), eventSizes.length).set(eventSizes);
    const { storageId, taken, eventType, label, fromPs = 0n, untilPs = (1n << 64n) - 1n } = watched;
    if (taken) new Uint8Array(buffer, at('taken'), taken.length).set(taken);
    if (label) new Uint8Array(buffer, at('wanted'), LABELS).set(label.wanted);
    const run = new Uint32Array(buffer, at('run'), Run.LENGTH);
    run.set([bytes, deltas.length, at('limits'), limits.length / LIMIT_WORDS]);
    run.set([at('events'), eventSizes.length], Run.EVENT_SIZES);
    run.set([Number(untilPs & MAX_WORD), Number(untilPs >> 32n)], Run.UNTIL_LO);
    run.set([storageId ?? NONE, at('taken'), eventType ?? NONE], Run.STORAGE);
    run.set([label ? label.offset + 1 : 0, at('wanted')], Run.LABEL);
    run.set([Number(fromPs & MAX_WORD), Number(fromPs >> 32n)], Run.FROM_LO);
    run.set([at('times'), at('slots'), CAPACITY], Run.TIMES);
    return new KernelWatch(kernel, run, taken?.length ?? 0);
  }
}

export class KernelWatch {
  constructor(
    private readonly kernel: SegmentKernel,
    private readonly run: Uint32Array,
    private readonly numSlots: number,
  ) {}

  /** One byte per slot: the plain path changes it too. */
  get taken(): Uint8Array {
    return new Uint8Array(this.run.buffer, this.run[Run.TAKEN]!, this.numSlots);
  }

  /** Moves the cursor in front of the first item that is not ordinary, and reports what was found on the way. */
  advance(cursor: FrameCursor, found: (times: BigUint64Array, slots: Uint16Array) => void): void {
    const { run } = this;
    run.set([cursor.offset, cursor.itemsLeft, cursor.frames], Run.AT);
    run.set([cursor.timeLo, cursor.timeHi], Run.TIME_LO);
    for (let count = CAPACITY; count === CAPACITY; ) {
      run[Run.COUNT] = 0;
      this.kernel.watch(run.byteOffset);
      count = run[Run.COUNT]!;
      const times = new BigUint64Array(run.buffer, run[Run.TIMES], count);
      found(times, new Uint16Array(run.buffer, run[Run.SLOTS], count));
    }
    cursor.continueAt(
      run[Run.AT]!,
      run[Run.ITEMS_LEFT]!,
      run[Run.FRAMES]!,
      run[Run.TIME_LO]!,
      run[Run.TIME_HI]!,
    );
  }
}
