/**
 * The parts of a segment's index, item by item: the oracle of the compiled pass (sdk/kernel/index).
 *
 * The result depends on the carry of the segment before, the checkpoint and the frames alone.
 */
import { UscopeError } from '../../../sdk/src/base/errors.js';
import { CursorItem, type FrameCursor } from '../../../sdk/src/format/frame.js';
import {
  encodeIndexContainer,
  IndexPart,
  type IndexPartBytes,
} from '../../../sdk/src/format/index-container.js';
import { Action, packedSize, SF_SPARSE } from '../../../sdk/src/format/types.js';
import type { LoadedSegment } from '../../../sdk/src/reader/index.js';
import { type PayloadField, payloadField, readField } from '../../../sdk/src/semantics/cpu/payload-field.js';
import { StorageState } from '../../../sdk/src/state/storage-state.js';
import { type Channel, ChannelKind } from '../../../sdk/src/trace-index/channels.js';
import { encodeDropped } from '../../../sdk/src/trace-index/dropped.js';
import type { Carry } from '../../../sdk/src/trace-index/pass/index-pass.js';
import type { IndexPlan } from '../../../sdk/src/trace-index/plan.js';
import { type RowPlan, stringOffsets } from '../../../sdk/src/trace-index/row-plan.js';
import { statsShape } from '../../../sdk/src/trace-index/stats/stats-part.js';
import {
  encodeTimePart,
  MAX_CELLS,
  MAX_ROWS,
  type PartTimes,
  timesWriter,
} from '../../../sdk/src/trace-index/time-part.js';
import { CoreSlots } from './core-slots.js';
import { GroupRows } from './group-rows.js';
import { RowWalk } from './row-walk.js';
import { CARRY_SHARE, decodeRowsCarry, encodeRowsCarry, type RowsCarry } from './rows-carry.js';
import { putEntries, StatsWalk } from './stats-walk.js';
import { StaticWalk, StringWalk } from './text-sets.js';
import {
  CarrySection,
  carriedMaskBytes,
  decodeCarry,
  decodeTimeCarry,
  encodeCarry,
  encodeTimeCarry,
  occupancyStorages,
  type TimeCarry,
} from './time-carry.js';
import { mostEntries } from './unions.js';

/** A segment that ends in a later cycle has no part ROWS: levels of rows count cycles in small numbers, see `MAX_SMALL`. */
const MAX_ROW_CYCLES = 1n << 51n;

export type PassSegment = Pick<LoadedSegment, 'checkpoint' | 'cursor' | 'deltas'> & {
  readonly header: Pick<LoadedSegment['header'], 'timeStartPs'>;
};

export interface PassResult {
  /** With CARRY as the last, and DROPPED where one would be too large. */
  readonly parts: readonly IndexPartBytes[];
  readonly carry: Uint8Array;
}

/**
 * Walks one segment.
 * @throws UscopeError FORMAT_* where frames or checkpoint do not follow the schema: the segment then has no index
 */
export function oraclePass(plan: IndexPlan, segment: PassSegment, carry: Carry): PassResult {
  const pass = new Pass(plan, segment, carry);
  pass.walk();
  return pass.finish();
}

type OnOp = (cursor: FrameCursor) => void;

class Pass {
  private readonly state: StorageState;
  private readonly groups: readonly GroupRows[];
  private readonly cores: readonly CoreSlots[];
  /** By core; null: it has no instructions, or no cycles. */
  private readonly rows: readonly (RowWalk | null)[];
  private readonly stats: readonly (StatsWalk | null)[];
  private readonly statics: readonly (StaticWalk | null)[];
  private readonly strings: StringWalk | null;
  /** By core: what was in flight before is known. */
  private readonly rowsAreExact: readonly boolean[];
  private readonly ops: OnOp[][];
  private readonly events: OnOp[][];
  private readonly payloadSizes: readonly number[];
  private readonly isExact: boolean;
  private time: bigint;

  constructor(
    private readonly plan: IndexPlan,
    private readonly segment: PassSegment,
    carry: Carry,
  ) {
    const { schema } = plan;
    const startPs = segment.header.timeStartPs;
    this.state = new StorageState(schema);
    this.state.loadCheckpoint(segment.checkpoint);
    const known = timeCarryOf(plan, carry, segment);
    this.isExact = carry !== null && (carry.length === 0 || known !== null);
    this.time = known?.lastPs ?? startPs;
    this.groups = plan.groups.map(
      (group, index) => new GroupRows(group, this.time, known?.counted[index] ?? []),
    );
    this.stats = plan.cores.map(({ rows, group }, index) =>
      rows && group >= 0 ? new StatsWalk(rows, statsShape(plan, index)) : null,
    );
    this.rows = plan.cores.map(({ rows }, index) => {
      const stats = this.stats[index];
      return rows && stats ? new RowWalk(rows, stats) : null;
    });
    const limit = mostEntries(segment.deltas.length);
    this.statics = plan.cores.map(({ rows }, index) =>
      this.rows[index] && (rows?.pc || rows?.bits) ? new StaticWalk(limit) : null,
    );
    const offsets = stringOffsets(schema);
    this.strings = offsets.some((offset) => offset >= 0) ? new StringWalk(limit) : null;
    this.cores = plan.cores.map((_, index) => this.coreSlots(index, known));
    const carried = known ? rowsCarryOf(plan, carry) : null;
    this.rowsAreExact = plan.cores.map((_, index) => {
      const rows = carried?.[index];
      if (rows) this.continueRows(index, rows, startPs);
      return carry?.length === 0 || Boolean(rows);
    });
    this.stats.forEach((stats, index) => {
      if (stats && !(this.rowsAreExact[index] && this.cores[index]!.isFollowed)) stats.isExact = false;
    });
    this.startBuffers(known, startPs);
    this.payloadSizes = schema.events.map(({ fields }) => packedSize(fields));
    this.ops = schema.storages.map(() => []);
    this.events = schema.events.map(() => []);
    for (const [index, group] of plan.groups.entries()) {
      for (const channel of group.channels) this.follow(this.groups[index]!, channel);
    }
    plan.cores.forEach((_, index) => {
      this.followRows(index);
    });
    offsets.forEach((offset, type) => {
      if (offset < 0) return;
      this.events[type]!.push((cursor) => this.strings!.add(readField(cursor, { offset, size: 4 })));
    });
  }

  walk(): void {
    const cursor = this.segment.cursor();
    while (cursor.next()) {
      if (cursor.kind === CursorItem.OP) this.onOp(cursor);
      else if (cursor.kind === CursorItem.EVENT) this.onEvent(cursor);
      else {
        this.endFrame();
        this.time = cursor.timePs;
        for (const group of this.groups) group.advance(this.time);
        this.rows.forEach((rows, index) => {
          rows?.frame(this.cycleOf(index, this.time));
        });
      }
    }
    this.endFrame();
  }

  finish(): PassResult {
    this.rows.forEach((one, core) => {
      if (one) one.isLate = this.cycleOf(core, this.time) >= MAX_ROW_CYCLES;
    });
    const finished = this.groups.map((group) => group.finish(this.time, this.isExact));
    const time = finished.flatMap(({ rows }, subject) => {
      if (rows.columns.length === 0) return [];
      const fits = rows.spans.length <= MAX_ROWS && rows.spans.length * rows.columns.length <= MAX_CELLS;
      const part = { kind: IndexPart.TIME, subject };
      return fits
        ? { ...part, bytes: encodeTimePart(rows) }
        : { kind: IndexPart.DROPPED, subject: 0, of: part };
    });
    const occupancy = finished.flatMap(({ rows, histograms }, subject) =>
      histograms.length > 0
        ? [{ kind: IndexPart.OCCUPANCY, subject, bytes: encodeOccupancyPart(rows, histograms) }]
        : [],
    );
    const carry = encodeCarry(this.carrySections());
    const rows = this.rows.flatMap((one, subject) => {
      return one ? [{ kind: IndexPart.ROWS, subject, bytes: one.part(this.rowsAreExact[subject]!) }] : [];
    });
    const statics = this.statics.flatMap((one, subject) =>
      one ? [{ kind: IndexPart.PCS, subject, bytes: one.part() }] : [],
    );
    const { strings } = this;
    const texts = strings ? [{ kind: IndexPart.STRINGS, subject: 0, bytes: strings.part() }] : [];
    const stats = this.stats.flatMap((one, subject) => {
      const isTooLarge = this.rows[subject]?.isTooLarge ?? false;
      return one ? [{ kind: IndexPart.STATS, subject, bytes: isTooLarge ? null : one.part() }] : [];
    });
    const more = [...rows, ...statics, ...texts, ...stats];
    const made = time.flatMap((part) => ('bytes' in part ? [part] : []));
    const dropped = [
      ...time.flatMap((part) => ('of' in part ? [part.of] : [])),
      ...more.filter(({ bytes }) => bytes === null),
    ];
    return {
      parts: [
        ...made,
        ...occupancy,
        ...more.flatMap(({ kind, subject, bytes }) => (bytes ? [{ kind, subject, bytes }] : [])),
        ...(dropped.length > 0
          ? [{ kind: IndexPart.DROPPED, subject: 0, bytes: encodeDropped(dropped) }]
          : []),
        { kind: IndexPart.CARRY, subject: 0, bytes: carry },
      ],
      carry,
    };
  }

  private carrySections(): Map<number, Uint8Array> {
    const sections = new Map<number, Uint8Array>([[CarrySection.TIME, encodeTimeCarry(this.timeCarry())]]);
    if (this.rows.every((rows) => rows === null)) return sections;
    const rows = encodeRowsCarry(
      this.rows.map((one, index) => one?.carry(this.cores[index]!.inFlight()) ?? null),
    );
    const room = Math.floor(this.segment.deltas.length / CARRY_SHARE);
    if (rows.length <= room) sections.set(CarrySection.ROWS, rows);
    return sections;
  }

  private cycleOf(core: number, timePs: bigint): bigint {
    return timePs / BigInt(this.plan.groups[this.plan.cores[core]!.group]!.periodPs);
  }

  /** What is in flight continues where the segment before has left it; what is no longer there was lost. */
  private continueRows(index: number, carried: NonNullable<RowsCarry[number]>, startPs: bigint): void {
    const rows = this.rows[index];
    if (!rows) return;
    const lastCycle = this.cycleOf(index, this.time);
    rows.frame(this.cycleOf(index, startPs > this.time ? startPs : this.time));
    for (const one of carried) {
      const life = rows.carried(one, lastCycle);
      if (this.cores[index]!.attach(one.slot, one.id, life)) continue;
      rows.end(life, false);
      this.stats[index]!.isExact = false;
    }
  }

  private followRows(index: number): void {
    const { core, rows: plan } = this.plan.cores[index]!;
    const slots = this.cores[index]!;
    if (!this.rows[index] || !plan) return;
    const { stageEvent, stallId } = plan;
    if (stageEvent) {
      this.events[stageEvent.type]!.push((cursor) => {
        slots.enterStage(readField(cursor, stageEvent.id), readField(cursor, stageEvent.stage));
      });
    }
    const stall = core.events.get('stall');
    if (stall && stallId) {
      this.events[stall.def.eventTypeId]!.push((cursor) => slots.stall(readField(cursor, stallId)));
    }
  }

  private timeCarry(): TimeCarry {
    const { plan, state } = this;
    const { layout } = state;
    return {
      lastPs: this.time,
      counted: this.groups.map((group) => group.countedNow()),
      occupied: occupancyStorages(plan).map((def) => {
        const base = layout.maskBase[def.storageId]!;
        const mask = state.mask.slice(base, base + carriedMaskBytes(def));
        return { count: state.occupied[def.storageId]!, mask };
      }),
      cores: this.cores.map((core, index) =>
        core.carried(plan.cores[index]!.core.entities?.def.numSlots ?? 0),
      ),
    };
  }

  private coreSlots(index: number, known: TimeCarry | null): CoreSlots {
    const { entities } = this.plan.cores[index]!.core;
    const [walk, stats] = [this.rows[index], this.stats[index]];
    const counted = walk && stats && { rows: walk, stats, numSlots: entities?.def.numSlots ?? 0 };
    const slots = new CoreSlots(entities?.idField ?? -1, counted ?? null);
    if (!entities || this.plan.cores[index]!.group < 0) return slots;
    const { def, idField } = entities;
    const { storageId, numSlots } = def;
    const carried = new Map((known?.cores[index] ?? []).map((one) => [one.slot, one] as const));
    for (let slot = 0; slot < numSlots; slot++) {
      if (!this.state.slotOccupied(storageId, slot)) continue;
      const id = idField < 0 ? slot : Number(this.state.value(storageId, slot, idField) & 0xffff_ffffn);
      const before = carried.get(slot);
      slots.bear(slot, id, before?.id === id && before.isFlushed);
      const { pc, bits } = this.plan.cores[index]!.rows!;
      this.statics[index]?.begin(
        slot,
        pc ? this.state.value(storageId, slot, pc.index) : 0n,
        bits ? Number(this.state.value(storageId, slot, bits.index) & 0xffff_ffffn) : 0,
      );
    }
    for (const { slot, id, isFlushed } of carried.values()) {
      if (slot >= numSlots) slots.bear(slot, id, isFlushed);
    }
    return slots;
  }

  /** What the buffers held since the segment before ended, and what its checkpoint has made of it. */
  private startBuffers(known: TimeCarry | null, startPs: bigint): void {
    const { state } = this;
    const { layout } = state;
    const at = startPs > this.time ? startPs : this.time;
    const before = new Map(
      occupancyStorages(this.plan).map((def, index) => [def, known?.occupied[index]] as const),
    );
    const changed: number[] = [];
    for (const [def, one] of before) {
      const { storageId, flags, numSlots } = def;
      if (one && (flags & SF_SPARSE) === 0) {
        state.mask.set(one.mask, layout.maskBase[storageId]);
        state.occupied[storageId] = countTaken(one.mask, numSlots);
      }
      const count = one?.count ?? state.occupied[storageId]!;
      this.groupOf(storageId).track(storageId, count);
      if (count !== state.occupied[storageId]) changed.push(storageId);
    }
    if (changed.length === 0) return;
    for (const stats of this.stats) if (stats) stats.isExact = false;
    for (const group of this.groups) group.advance(at);
    for (const id of changed) this.groupOf(id).change(id, state.occupied[id]!, at);
    this.time = at;
  }

  private groupOf(storageId: number): GroupRows {
    const index = this.plan.groups.findIndex(({ channels }) =>
      channels.some(({ kind, subject }) => kind === ChannelKind.OCCUPANCY && subject === storageId),
    );
    return this.groups[index]!;
  }

  private follow(rows: GroupRows, channel: Channel): void {
    const { kind, subject, column } = channel;
    if (kind === ChannelKind.BORN) this.ops[subject]!.push((cursor) => this.onSlot(cursor, rows, column));
    else if (kind === ChannelKind.DELTA)
      this.ops[subject]!.push((cursor) => this.onCounter(cursor, rows, column));
    else if (kind === ChannelKind.EVENTS) {
      this.events[subject]!.push((cursor) => rows.add(column + labelOf(cursor, channel)));
    } else if (kind === ChannelKind.STALLS) this.onReason(subject, 'stall', channel, rows, () => true);
    else if (kind === ChannelKind.SQUASHED) this.onSquash(subject, rows, column);
    else if (kind === ChannelKind.RETIRED) this.retired.push({ core: this.cores[subject]!, rows, column });
  }

  private readonly retired: { core: CoreSlots; rows: GroupRows; column: number }[] = [];

  private endFrame(): void {
    for (const { core, rows, column } of this.retired) rows.add(column, BigInt(core.settle()));
    for (const statics of this.statics) statics?.settle();
  }

  private onOp(cursor: FrameCursor): void {
    const { action, storageId, slot, field } = cursor;
    const handlers = this.ops[storageId];
    if (!handlers)
      throw new UscopeError('FORMAT_ID', `an op names storage ${storageId}, which does not exist`);
    if (action !== Action.PROP_SET) this.followCatalog(cursor);
    const { layout } = this.state;
    const exists = action === Action.CLEAR || field < layout.numFields[storageId]!;
    if (action === Action.PROP_SET || slot >= layout.numSlots[storageId]! || !exists) return;
    for (const handle of handlers) handle(cursor);
    if (handlers.length === 0) return;
    this.state.apply(action, storageId, slot, field, cursor.lo, cursor.hi);
  }

  private followCatalog(cursor: FrameCursor): void {
    this.plan.cores.forEach(({ core, group, rows }, index) => {
      if (group < 0 || core.entities?.def.storageId !== cursor.storageId) return;
      const statics = rows?.mixXlen ? this.statics[index] : null;
      followSlot(this.cores[index]!, cursor, statics?.bitsOf(cursor.slot) ?? 0);
      if (rows) followTexts(this.statics[index] ?? null, rows, core.entities.idField, cursor);
    });
  }

  /** The state is that before the op. */
  private onSlot({ action, storageId, slot }: FrameCursor, rows: GroupRows, born: number): void {
    const isTaken = this.state.slotOccupied(storageId, slot);
    const isTakenNow = action !== Action.CLEAR;
    if (isTaken === isTakenNow) return;
    rows.add(isTakenNow ? born : born + 1);
    const count = this.state.occupied[storageId]! + (isTakenNow ? 1 : -1);
    rows.change(storageId, count, this.time);
  }

  private onCounter({ action, storageId, value }: FrameCursor, rows: GroupRows, column: number): void {
    const before = this.state.value(storageId, 0, 0);
    const by = action === Action.ADD ? value : (action === Action.SET ? value : 0n) - before;
    rows.add(column, by);
  }

  private onEvent(cursor: FrameCursor): void {
    const { eventType, payloadSize } = cursor;
    const handlers = this.events[eventType];
    if (!handlers) return; // other writers' types: skipped
    if (payloadSize !== this.payloadSizes[eventType]) {
      throw new UscopeError('FORMAT_LENGTH', `an event of type ${eventType} has ${payloadSize} bytes`);
    }
    for (const handle of handlers) handle(cursor);
  }

  private onSquash(index: number, rows: GroupRows, squashed: number): void {
    const { core } = this.plan.cores[index]!;
    const event = core.events.get('flush')!;
    const id = payloadField(event, 'entity_id');
    const flushes = this.channel(index, ChannelKind.FLUSHES);
    const counts = (cursor: FrameCursor): boolean => {
      const isNew = !core.entities || this.cores[index]!.flush(idOf(cursor, id), cursor.interleaved);
      if (isNew) rows.add(squashed);
      return isNew;
    };
    this.onReason(index, 'flush', flushes, rows, counts);
  }

  private channel(core: number, wanted: ChannelKind): Channel {
    const all = this.plan.groups.flatMap(({ channels }) => channels);
    return all.find(({ kind, subject }) => kind === wanted && subject === core)!;
  }

  private onReason(
    index: number,
    name: 'flush' | 'stall',
    channel: Channel,
    rows: GroupRows,
    counts: (cursor: FrameCursor) => boolean,
  ): void {
    const event = this.plan.cores[index]!.core.events.get(name)!;
    this.events[event.def.eventTypeId]!.push((cursor) => {
      if (!counts(cursor)) return;
      const reason = labelOf(cursor, channel);
      rows.addCycle(channel.column);
      if (channel.labels) rows.addCycle(channel.column + 1 + reason);
      const stats = this.stats[index];
      if (name === 'flush') stats?.squash(reason);
      else stats?.stall(reason, this.rows[index]!.cycle);
    });
  }
}

/** null where nothing is known: no carry, or one that cannot be this segment's. */
function timeCarryOf(plan: IndexPlan, carry: Carry, segment: PassSegment): TimeCarry | null {
  if (carry === null || carry.length === 0) return null;
  try {
    const section = decodeCarry(carry).get(CarrySection.TIME);
    const found = section ? decodeTimeCarry(section, plan) : null;
    const cursor = segment.cursor();
    return !found || !cursor.next() || found.lastPs <= cursor.timePs ? found : null;
  } catch {
    return null;
  }
}

/** null: it does not fit, or there is none. */
function rowsCarryOf(plan: IndexPlan, carry: Carry): RowsCarry | null {
  try {
    const section = decodeCarry(carry!).get(CarrySection.ROWS);
    return section
      ? decodeRowsCarry(
          section,
          plan.cores.map(({ rows, group }) => (rows && group >= 0 ? rows.stages : 0)),
        )
      : null;
  } catch {
    return null;
  }
}

function followTexts(
  statics: StaticWalk | null,
  { pc, bits }: RowPlan,
  idField: number,
  { action, slot, field, lo, value }: FrameCursor,
): void {
  if (action === Action.CLEAR) statics?.leave(slot, true);
  else if (field === idField) statics?.leave(slot, false);
  else if (field === pc?.index) statics?.setPc(slot, value);
  else if (field === bits?.index) statics?.setBits(slot, lo);
}

function followSlot(core: CoreSlots, { action, slot, field, lo }: FrameCursor, bits: number): void {
  if (action === Action.CLEAR) core.clear(slot, bits);
  else core.set(slot, field, lo);
}

function labelOf({ bytes, payloadOffset }: FrameCursor, { labels }: Channel): number {
  return labels ? labels.indexOf[bytes[payloadOffset + labels.offset]!]! : 0;
}

function idOf(cursor: FrameCursor, field: PayloadField | null): number {
  return field ? readField(cursor, field) : -1;
}

function countTaken(mask: Uint8Array, numSlots: number): number {
  let count = 0;
  for (let slot = 0; slot < numSlots; slot++) count += (mask[slot >>> 3]! >>> (slot & 7)) & 1;
  return count;
}

/** The container of a segment, for the place where it is in the file. */
export function oracleContainer(
  plan: IndexPlan,
  segment: PassSegment & Pick<LoadedSegment, 'offset'>,
  carry: Carry,
): { readonly container: Uint8Array; readonly carry: Uint8Array } {
  const result = oraclePass(plan, segment, carry);
  const container = encodeIndexContainer({
    segmentOffset: BigInt(segment.offset),
    planCrc: plan.crc,
    parts: result.parts,
  });
  return { container, carry: result.carry };
}

/** @param histograms by channel, time for each number of slots, in the unit */
function encodeOccupancyPart(
  times: PartTimes,
  histograms: readonly ReadonlyMap<number, bigint>[],
): Uint8Array {
  const writer = timesWriter(times);
  for (const histogram of histograms) {
    const entries = [...histogram].filter(([, time]) => time > 0n).sort(([a], [b]) => a - b);
    putEntries(writer, entries);
  }
  return writer.finish();
}
