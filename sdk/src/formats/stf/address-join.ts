/** Addresses of loads and stores: what a core's queues (buffers with `entity_id` and `addr`) said of an instruction while it lived. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, type StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import { ItemStream } from '../../stream/item-stream.js';

const ADDRESS_FIELDS = ['addr', 'address', 'vaddr'];
const DATA_FIELDS = ['data', 'value'];

export interface KnownAccess {
  readonly timePs: bigint;
  readonly address: bigint;
  /** Null: not recorded. */
  data: bigint | null;
  /** Bytes of the word that are touched, a bit each; null: the address is that of the first byte. */
  strobe: number | null;
}

interface Queue {
  readonly def: StorageDef;
  readonly idField: number;
  readonly addressField: number;
  readonly dataField: number;
  readonly strobeField: number;
  readonly slots: Map<
    number,
    { id: number | null; address: bigint | null; setAt: bigint; access: KnownAccess | null }
  >;
}

/**
 * Walks the trace next to the code that walks the instructions. Instructions must be asked for in the order of their births; of each id nothing older is
 * kept.
 */
export class AddressJoin {
  /** Null when no queue of the core records addresses. */
  static of(trace: Trace, core: CpuCore): AddressJoin | null {
    const queues = core.buffers.flatMap((def): Queue[] => {
      const index = (names: readonly string[]): number =>
        def.fields.findIndex(({ name }) => names.includes(name));
      const addressField = index(ADDRESS_FIELDS);
      if (addressField < 0) return [];
      const [dataField, strobeField] = [index(DATA_FIELDS), index(['strobe'])];
      return [{ def, idField: index(['entity_id']), addressField, dataField, strobeField, slots: new Map() }];
    });
    return queues.length ? new AddressJoin(trace, queues) : null;
  }

  private readonly stream: ItemStream;
  private readonly queues: readonly (Queue | undefined)[];
  private readonly known = new Map<number, KnownAccess[]>();
  private hasSegment = false;
  private isDone = false;
  /** Every frame up to this time has been looked at. */
  private reachedPs = -1n;
  private framePs = -1n;

  private constructor(trace: Trace, queues: readonly Queue[]) {
    this.stream = new ItemStream(trace);
    const byId: (Queue | undefined)[] = [];
    for (const queue of queues) byId[queue.def.storageId] = queue;
    this.queues = byId;
  }

  /** The last access that entity `id` is known to have made between its birth and its end. */
  async take(id: number, birthPs: bigint, endPs: bigint): Promise<KnownAccess | null> {
    if (this.reachedPs < endPs) await this.walk(endPs);
    const list = this.known.get(id);
    if (!list) return null;
    const later = list.filter(({ timePs }) => timePs > endPs);
    const own = list.filter(({ timePs }) => timePs >= birthPs && timePs <= endPs);
    if (later.length) this.known.set(id, later);
    else this.known.delete(id);
    return own[own.length - 1] ?? null;
  }

  async close(): Promise<void> {
    await this.stream.close();
  }

  private async walk(until: bigint): Promise<void> {
    while (!this.isDone) {
      if (!this.hasSegment) this.hasSegment = await this.stream.nextSegment();
      if (!this.hasSegment) break;
      while (this.stream.next()) {
        const { cursor } = this.stream;
        if (cursor.kind === CursorItem.OP) this.op(cursor);
        else if (cursor.kind === CursorItem.FRAME) {
          this.framePs = cursor.timePs;
          this.reachedPs = this.framePs - 1n;
          if (this.framePs > until) return;
        }
      }
      this.hasSegment = false;
    }
    this.isDone = true;
    this.reachedPs = 1n << 64n;
  }

  private op(cursor: FrameCursor): void {
    const queue = this.queues[cursor.storageId];
    if (!queue) return;
    if (cursor.action === Action.CLEAR) queue.slots.delete(cursor.slot);
    else if (cursor.action === Action.SET) this.set(queue, cursor);
  }

  private set(queue: Queue, { slot: number, field, lo, value }: FrameCursor): void {
    let slot = queue.slots.get(number);
    if (!slot) {
      slot = { id: null, address: null, setAt: -1n, access: null };
      queue.slots.set(number, slot);
    }
    if (field === queue.idField) {
      slot.id = lo;
      slot.access = null;
      // Fields of one frame may come in any order; an address of an earlier frame is that of the entry before.
      if (slot.setAt === this.framePs) this.record(slot);
    } else if (field === queue.addressField) {
      slot.address = value;
      slot.setAt = this.framePs;
      this.record(slot);
    } else if (slot.access && field === queue.dataField) slot.access.data = value;
    else if (slot.access && field === queue.strobeField) slot.access.strobe = lo;
  }

  private record(slot: { id: number | null; address: bigint | null; access: KnownAccess | null }): void {
    if (slot.id === null || slot.address === null) return;
    slot.access = { timePs: this.framePs, address: slot.address, data: null, strobe: null };
    const list = this.known.get(slot.id);
    if (list) list.push(slot.access);
    else this.known.set(slot.id, [slot.access]);
  }
}
