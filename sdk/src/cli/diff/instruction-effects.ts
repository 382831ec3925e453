/** What the instructions of a core wrote, from its events `reg_write`, `freg_write` and `mem_write`, as texts that can be compared. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import type { EventDef } from '../../format/types.js';
import { CPU, membersOf, ownFirst } from '../../protocols/index.js';
import { readRaw, type Trace } from '../../reader/index.js';
import { describeEvent, type ProtocolEvent } from '../../semantics/common/describe.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import { ItemStream } from '../../stream/item-stream.js';
import type { TimeBounds } from '../common/ranges.js';

export interface Effects {
  /** `x5=0x12 f1=0x0`; null: the trace has no events of registers. */
  readonly registers: string | null;
  /** `[0x80001000]=0x12345678`, with as many digits as bytes were written; null: the trace has no events of stores. */
  readonly stores: string | null;
}

interface Effect {
  readonly timePs: bigint;
  readonly isStore: boolean;
  readonly text: string;
}

const NOTHING: Effects = { registers: null, stores: null };

/** Events in the order of time, taken instruction by instruction. Memory is that of the instructions in flight. */
export class EffectStream {
  private readonly stream: ItemStream;
  private readonly events: ReadonlyMap<number, readonly [prefix: string, event: ProtocolEvent]>;
  private readonly pending = new Map<number, Effect[]>();
  private readonly has: { readonly registers: boolean; readonly stores: boolean };
  private isDone = false;
  private inSegment = false;
  /** The stream is at the beginning of a frame of this time. */
  private timePs = -1n;

  constructor(trace: Trace, core: CpuCore, { to }: TimeBounds) {
    // From the beginning on: what is in flight at the start of a range has written before it.
    this.stream = new ItemStream(trace, to === undefined ? {} : { to });
    const events = ownFirst(trace.schema.events, membersOf(trace.schema, core.scopeId), core.scopeId);
    this.events = findEvents(trace, events);
    const prefixes = [...this.events.values()].map(([prefix]) => prefix);
    this.has = { registers: prefixes.some((prefix) => prefix !== ''), stores: prefixes.includes('') };
  }

  /** What an instruction wrote. Those of one id are asked for in the order of their births. */
  async of(id: number, birthPs: bigint | null, endPs: bigint): Promise<Effects> {
    if (this.events.size === 0) return NOTHING;
    await this.advance(endPs);
    const known = this.pending.get(id) ?? [];
    const isBefore = ({ timePs }: Effect): boolean =>
      timePs < endPs || (timePs === endPs && birthPs === endPs);
    const own = known.filter((one) => isBefore(one) && (birthPs === null || one.timePs >= birthPs));
    const left = known.filter((one) => !isBefore(one));
    if (left.length > 0) this.pending.set(id, left);
    else this.pending.delete(id);
    const texts = (isStore: boolean): string =>
      own
        .filter((one) => one.isStore === isStore)
        .map(({ text }) => text)
        .join(' ');
    return {
      registers: this.has.registers ? texts(false) : null,
      stores: this.has.stores ? texts(true) : null,
    };
  }

  async close(): Promise<void> {
    await this.stream.close();
  }

  private async advance(endPs: bigint): Promise<void> {
    while (!this.isDone && this.timePs <= endPs) {
      if (!this.inSegment) {
        this.isDone = !(await this.stream.nextSegment());
        this.inSegment = !this.isDone;
      }
      while (this.inSegment && this.timePs <= endPs) this.next();
    }
  }

  private next(): void {
    this.inSegment = this.stream.next();
    if (!this.inSegment) return;
    const { cursor } = this.stream;
    if (cursor.kind === CursorItem.EVENT) this.event(cursor);
    else if (cursor.kind !== CursorItem.OP) this.timePs = cursor.timePs;
  }

  private event(cursor: FrameCursor): void {
    const found = this.events.get(cursor.eventType);
    if (!found) return;
    const [prefix, event] = found;
    const field = (name: string): bigint => {
      const at = event.fields.get(name);
      return at ? readRaw(cursor.bytes, cursor.payloadOffset + at.offset, at.type) : 0n;
    };
    const id = Number(field('entity_id'));
    const isStore = prefix === '';
    const text = isStore
      ? storeText(field('addr'), Number(field('mask')), field('data'))
      : `${prefix}${field('index')}=0x${field('value').toString(16)}`;
    const list = this.pending.get(id);
    const effect = { timePs: this.timePs, isStore, text };
    if (list) list.push(effect);
    else this.pending.set(id, [effect]);
  }
}

function findEvents(trace: Trace, events: readonly EventDef[]) {
  const found = new Map<number, readonly [string, ProtocolEvent]>();
  for (const [name, prefix] of [
    ['reg_write', 'x'],
    ['freg_write', 'f'],
    ['mem_write', ''],
  ] as const) {
    const event = describeEvent(trace.schema, events, name, CPU.events[name]);
    if (event) found.set(event.def.eventTypeId, [prefix, event]);
  }
  return found;
}

/** Designs align the address and say by the mask which bytes are written: the text says where they are. */
function storeText(addr: bigint, mask: number, data: bigint): string {
  if (mask === 0) return `[0x${addr.toString(16)}]`;
  const first = 31 - Math.clz32(mask & -mask);
  const bytes = 32 - Math.clz32(mask >>> first);
  const value = BigInt.asUintN(8 * bytes, data >> BigInt(8 * first));
  return `[0x${(addr + BigInt(first)).toString(16)}]=0x${value.toString(16).padStart(2 * bytes, '0')}`;
}
