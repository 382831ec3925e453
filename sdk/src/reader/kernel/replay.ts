/** The ordinary frames and items of a segment applied to a state by the compiled loop (sdk/kernel/reader/replay.c). */
import type { FrameCursor } from '../../format/frame.js';
import { packedSize, type Schema } from '../../format/types.js';
import type { StateLayout } from '../../state/layout.js';
import type { StorageState } from '../../state/storage-state.js';
import type { SegmentKernel } from './segment-kernel.js';

/** Larger states are replayed where they are: taking them into the kernel and out again would cost more than it spares. */
const MAX_STATE_BYTES = 4 * 1024 * 1024;

/** Words of `struct replay`, in its order. */
enum Run {
  BYTES,
  END,
  STORAGES,
  NUM_STORAGES,
  EVENT_SIZES,
  NUM_EVENTS,
  AT,
  ITEMS_LEFT,
  FRAMES,
  RESERVED,
  TIME_LO,
  TIME_HI,
  UNTIL_LO,
  UNTIL_HI,
  LENGTH,
}
const STORAGE_WORDS = 8;
const CELL_BYTES = 8;
const MAX_WORD = 0xffff_ffffn;

/** What the loop gets about a schema, and where the arrays of a state lie in a kernel's memory. */
export class ReplayPlan {
  /** Bytes of a kernel's space; 0: states of this schema are not for it. */
  readonly space: number;
  private readonly eventSizes: Uint32Array;
  /** From `spaceAt` on. */
  private readonly places: { run: number; storages: number; events: number; widths: number } & Arrays;

  constructor(
    private readonly layout: StateLayout,
    schema: Schema,
  ) {
    this.eventSizes = Uint32Array.from(schema.events, (event) => packedSize(event.fields));
    let end = 0;
    const place = (bytes: number): number => {
      const at = end;
      end += Math.ceil(bytes / CELL_BYTES) * CELL_BYTES;
      return at;
    };
    this.places = {
      run: place(Run.LENGTH * 4),
      cells: place(layout.totalCells * CELL_BYTES),
      widths: place(layout.sizes.length * CELL_BYTES),
      storages: place(layout.numStorages * STORAGE_WORDS * 4),
      events: place(this.eventSizes.byteLength),
      occupied: place(layout.numStorages * 4),
      mask: place(layout.totalMaskBytes),
    };
    this.space = end > MAX_STATE_BYTES ? 0 : end;
  }

  /**
   * Takes a state into the kernel, where it is replayed.
   * @param deltas interleaved frames
   * @returns null when they are too many
   */
  enter(kernel: SegmentKernel, state: StorageState, deltas: Uint8Array): Replay | null {
    const bytes = kernel.place(deltas);
    if (bytes === 0) return null;
    const { layout, eventSizes } = this;
    const at = Object.fromEntries(
      Object.entries(this.places).map(([name, place]) => [name, kernel.spaceAt + place]),
    ) as typeof this.places;
    const { buffer } = kernel;
    state.moveTo(buffer, at);
    new Uint32Array(buffer, at.storages).set(storageRows(layout, at));
    new Uint32Array(buffer, at.widths).set(widthRows(layout));
    new Uint32Array(buffer, at.events).set(eventSizes);
    const run = new Uint32Array(buffer, at.run, Run.LENGTH);
    run.set([bytes, deltas.length, at.storages, layout.numStorages, at.events, eventSizes.length]);
    return new Replay(kernel, run, state);
  }
}

/** One state while it is in a kernel. */
export class Replay {
  constructor(
    private readonly kernel: SegmentKernel,
    private readonly run: Uint32Array,
    private readonly state: StorageState,
  ) {}

  /** Applies frames up to and with `until`, and moves the cursor in front of the first that is not ordinary. */
  advance(cursor: FrameCursor, until: bigint): void {
    const { run } = this;
    run.set([cursor.offset, cursor.itemsLeft, cursor.frames], Run.AT);
    run.set([cursor.timeLo, cursor.timeHi, Number(until & MAX_WORD), Number(until >> 32n)], Run.TIME_LO);
    this.kernel.replay(run.byteOffset);
    cursor.continueAt(run[Run.AT], run[Run.ITEMS_LEFT], run[Run.FRAMES], run[Run.TIME_LO], run[Run.TIME_HI]);
  }

  /** Gives the state its own memory. */
  leave(): void {
    const { cells, occupied, mask } = this.state;
    const at = { cells: 0, occupied: cells.byteLength, mask: cells.byteLength + occupied.byteLength };
    this.state.moveTo(new ArrayBuffer(at.mask + mask.byteLength), at);
  }
}

/** Addresses of a state's arrays. */
interface Arrays {
  readonly cells: number;
  readonly occupied: number;
  readonly mask: number;
}

/** `struct storage`, in its order. */
function storageRows(layout: StateLayout, at: Arrays & { readonly widths: number }): Uint32Array {
  const rows = new Uint32Array(layout.numStorages * STORAGE_WORDS);
  for (let id = 0; id < layout.numStorages; id++) {
    const row = id * STORAGE_WORDS;
    rows[row] = layout.numSlots[id];
    rows[row + 1] = layout.numFields[id];
    rows[row + 2] = layout.numProperties[id];
    rows[row + 3] = at.occupied + id * 4;
    rows[row + 4] = at.cells + layout.cellBase[id] * CELL_BYTES;
    rows[row + 5] = at.cells + layout.propertyCellBase[id] * CELL_BYTES;
    rows[row + 6] = at.mask + layout.maskBase[id];
    rows[row + 7] = at.widths + layout.fieldBase[id] * CELL_BYTES;
  }
  return rows;
}

function widthRows({ maskLo, maskHi }: StateLayout): Uint32Array {
  const rows = new Uint32Array(maskLo.length * 2);
  for (let field = 0; field < maskLo.length; field++) {
    rows[field * 2] = maskLo[field];
    rows[field * 2 + 1] = maskHi[field];
  }
  return rows;
}
