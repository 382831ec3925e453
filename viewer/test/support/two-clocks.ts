/** A made-up trace without cores: a queue between two clocks and a network, with a record of what happened. */

import type { Frame, Item } from '../../../sdk/src/format/types.js';
import { parseSchema } from '../../../sdk/src/schema/index.js';
import { add, clear, frame, set } from '../../../test/support/build-trace.js';
import { indexedTrace } from '../../../test/support/indexed-trace.js';
import { event, u32 } from '../../../test/support/pipeline-model.js';

export const FAST_PS = 1000;
export const SLOW_PS = 2500;
export const SLOTS = 8;

const SCHEMA = `
uscope: 1
clocks: {write_clk: ${FAST_PS} ps, read_clk: ${SLOW_PS} ps}
enums:
  mode: [idle, busy, full]
  stage: [queued, sent]
  opcode: [write, read]
scopes:
  writer:
    clock: write_clk
    storages:
      queue: {slots: ${SLOTS}, kind: buffer, fields: {value: u32}}
      pushes: counter
      state: {slots: 1, kind: dense, fields: {mode: mode}}
    events:
      push: {slot: u8, value: u32}
  reader:
    clock: read_clk
    storages:
      pops: counter
    events:
      pop: {slot: u8}
  net:
    protocol: noc
    clock: write_clk
    storages:
      transactions: {slots: 4, kind: sparse, fields: {txn_id: u32, opcode: opcode, addr: u64, len: u16, size: u8, src_port: u16, dst_port: u16}}
    events:
      stage_transition: {txn_id: u32, stage: stage}
`;

/** Storages and events by id, in the order of the schema. */
export const Id = {
  QUEUE: 0,
  PUSHES: 1,
  STATE: 2,
  POPS: 3,
  TRANSACTIONS: 4,
  PUSH: 0,
  POP: 1,
  STAGE: 2,
} as const;

/** What holds from a time on. */
export interface Instant {
  readonly timePs: number;
  readonly queued: number;
  readonly pushes: number;
  readonly pops: number;
  readonly mode: string;
}

export interface TwoClocks {
  readonly bytes: Uint8Array;
  readonly instants: readonly Instant[];
  readonly events: readonly { readonly type: number; readonly timePs: number; readonly text: string }[];
  readonly transactions: readonly {
    readonly slot: number;
    readonly port: number;
    readonly birth: number;
    readonly sent: number;
    readonly end: number;
  }[];
  readonly endPs: number;
}

const MODES = ['idle', 'busy', 'full'];
const FRAMES_PER_SEGMENT = 2000;

export async function twoClocks(choose: (below: number) => number, cycles: number): Promise<TwoClocks> {
  const { schema, dut } = parseSchema(SCHEMA);
  const frames: Frame[] = [];
  const instants: Instant[] = [];
  const events: TwoClocks['events'][number][] = [];
  const transactions: TwoClocks['transactions'][number][] = [];
  const slots: (number | null)[] = Array.from({ length: SLOTS }, () => null);
  const flying: ({ port: number; birth: number; sent: number } | null)[] = [null, null, null, null];
  let [pushes, pops, mode] = [0, 0, 0];
  const times = new Set<number>();
  for (let cycle = 0; cycle < cycles; cycle++) times.add(cycle * FAST_PS);
  for (let time = 0; time < cycles * FAST_PS; time += SLOW_PS) times.add(time);
  for (const time of [...times].sort((a, b) => a - b)) {
    const items: Item[] = [];
    const isWrite = time % FAST_PS === 0;
    const isBurst = Math.floor(time / 700_000) % 3 === 0;
    const free = slots.indexOf(null);
    if (isWrite && free >= 0 && choose(isBurst ? 2 : 9) === 0) {
      const value = choose(1000);
      slots[free] = value;
      pushes++;
      items.push(set(Id.QUEUE, free, 0, value), add(Id.PUSHES, 0, 0, 1), event(Id.PUSH, free, ...u32(value)));
      events.push({ type: Id.PUSH, timePs: time, text: `slot ${free}, value ${value}` });
    }
    const taken = slots.findIndex((value) => value !== null);
    if (time % SLOW_PS === 0 && taken >= 0 && choose(2) === 0) {
      slots[taken] = null;
      pops++;
      items.push(clear(Id.QUEUE, taken), add(Id.POPS, 0, 0, 1), event(Id.POP, taken));
      events.push({ type: Id.POP, timePs: time, text: `slot ${taken}` });
    }
    const queued = slots.filter((value) => value !== null).length;
    const next = queued === 0 ? 0 : queued === SLOTS ? 2 : 1;
    if (next !== mode) {
      // Something in between that nobody may see: it lasts no time.
      items.push(set(Id.STATE, 0, 0, (next + 1) % 3), set(Id.STATE, 0, 0, next));
      mode = next;
    }
    if (isWrite) {
      const slot = choose(4);
      const one = flying[slot] ?? null;
      if (!one && choose(8) === 0) {
        const port = choose(2);
        flying[slot] = { port, birth: time, sent: -1 };
        const fields = [slot, choose(2), 4096 + slot, 1, 2, port, 0];
        for (const [field, value] of fields.entries()) items.push(set(Id.TRANSACTIONS, slot, field, value));
        items.push(event(Id.STAGE, ...u32(slot), 0));
        events.push({ type: Id.STAGE, timePs: time, text: `txn_id ${slot}, stage queued` });
      } else if (one && one.sent < 0 && choose(4) === 0) {
        one.sent = time;
        items.push(event(Id.STAGE, ...u32(slot), 1));
        events.push({ type: Id.STAGE, timePs: time, text: `txn_id ${slot}, stage sent` });
      } else if (one && one.sent >= 0 && choose(4) === 0) {
        items.push(clear(Id.TRANSACTIONS, slot));
        transactions.push({ slot, ...one, end: time });
        flying[slot] = null;
      }
    }
    if (items.length > 0) frames.push(frame(time, ...items));
    instants.push({ timePs: time, queued, pushes, pops, mode: MODES[mode]! });
  }
  const endPs = (cycles - 1) * FAST_PS;
  // The trace ends where the last cycle does.
  if (Number(frames.at(-1)!.timePs) < endPs) frames.push(frame(endPs));
  const segments = [];
  for (let at = 0; at < frames.length; at += FRAMES_PER_SEGMENT) {
    const end = frames[at + FRAMES_PER_SEGMENT]?.timePs ?? BigInt(endPs);
    segments.push({ frames: frames.slice(at, at + FRAMES_PER_SEGMENT), end });
  }
  const { bytes } = await indexedTrace({ schema, dut, segments });
  return { bytes, instants, events, transactions, endPs };
}
