/** The first pass of an import: which signals have values and in what form these fit, and which times occur. */
import { printable } from '../../base/printable.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import type { FluxCursor } from './cursor.js';
import { type DomainUnit, toPs, unitOf } from './domains.js';
import { Doubts } from './doubts.js';
import type { FluxGroup } from './groups.js';
import { Form, MAX_MEMBERS, type MappedMember } from './mapping.js';
import { MemberCursor } from './member-cursor.js';
import { FluxTag, FluxType, MemberType } from './types.js';
import { decodeValue, encodeValue } from './values.js';

export interface SurveyedMember {
  readonly member: number;
  readonly type: number;
  readonly label: string;
  form: Form;
}

export interface SurveyedSignal {
  readonly trace: number;
  readonly id: number;
  readonly type: number;
  form: Form;
  readonly members: SurveyedMember[];
  count: number;
}

interface Item {
  readonly parent: number;
  readonly name: string;
}

/**
 * The entries of a group while it has one domain, or of a trace before anything is open: in order of time, unless there were positions that go
 * back.
 */
export interface FluxLane {
  readonly index: number;
  /** Number of the group in the file: its lanes stay in their order. */
  readonly row: number;
  readonly group: string;
  readonly trace: number;
  readonly unit: DomainUnit;
  readonly domain: string;
  min: bigint;
  hasValues: boolean;
  /** Where its last entry was, in halves, once it `isKnown`. */
  lo: number;
  hi: number;
  isKnown: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const walk = new MemberCursor();
const FIRST_FORM: readonly Form[] = [
  Form.BYTES,
  Form.INTEGER,
  Form.INTEGER,
  Form.LOGIC,
  Form.FLOAT,
  Form.TEXT,
  Form.BINARY,
  Form.STRUCT,
  Form.LIST,
  Form.LIST,
  Form.LIST,
  Form.LIST,
];

/** Determines the lanes of entries, the same ones in every pass over the same file. */
export class Lanes {
  readonly all: FluxLane[] = [];
  private readonly byKey = new Map<string, FluxLane>();
  private readonly rows = new Map<string, number>();
  /** By trace: the lane that was met last. */
  private readonly last = new Map<number, FluxLane>();
  private cachedGroup: unknown = null;
  private cachedLane: FluxLane | null = null;

  /** null: the entry is not a content. */
  laneOf(cursor: FluxCursor): FluxLane | null {
    const { tag, trace } = cursor;
    if (tag === FluxTag.PBLK || tag >= FluxTag.RING || tag === FluxTag.SECT || tag === FluxTag.SWTH)
      return null;
    const group = cursor.group ?? this.groupOf(cursor);
    if (group !== null) {
      if (group === this.cachedGroup) {
        this.last.set(trace!.id, this.cachedLane!);
        return this.cachedLane;
      }
      this.cachedGroup = group;
      this.cachedLane = this.lane(trace!.id, `${trace!.id}:${group.id}`, group.domain);
      return this.cachedLane;
    }
    const id = trace!.id;
    return this.last.get(id) ?? this.lane(id, `${id}`, 'ps');
  }

  private groupOf({ tag, trace, numbers }: FluxCursor) {
    const isDefinition = tag >= FluxTag.SCPD && tag <= FluxTag.SSRD;
    const isOfItem = isDefinition || (tag >= FluxTag.ENMD && tag <= FluxTag.ATLA);
    return isOfItem ? (trace?.groupOf(numbers[0]) ?? null) : null;
  }

  /** Groups, and beginnings of traces. */
  get rowCount(): number {
    return this.rows.size;
  }

  private lane(trace: number, group: string, domain: string): FluxLane {
    const key = `${group}:${domain}`;
    let lane = this.byKey.get(key);
    if (!lane) {
      const row = this.rows.get(group) ?? this.rows.size;
      this.rows.set(group, row);
      lane = {
        index: this.all.length,
        row,
        group,
        trace,
        domain,
        unit: unitOf(domain),
        min: 2n ** 63n,
        hasValues: false,
        lo: 0,
        hi: 0,
        isKnown: false,
      };
      this.all.push(lane);
      this.byKey.set(key, lane);
    }
    this.last.set(trace, lane);
    return lane;
  }
}

export class Survey {
  readonly lanes = new Lanes();
  readonly doubts = new Doubts();
  readonly signals = new Map<string, SurveyedSignal>();
  readonly items = new Map<string, Item>();
  private readonly members = new Map<string, SurveyedMember[]>();
  private readonly byTrace = new Map<number, Map<number, SurveyedSignal>>();
  private lastSignal: SurveyedSignal | null = null;
  readonly traceNames = new Map<number, string>();
  /** Lane of each item that has values, or was opened. */
  readonly laneOfItem = new Map<string, FluxLane>();
  /** All entries are in the order of their times. */
  isOrdered = true;
  /** Entries with content: about the items of a trace made of them. */
  entries = 0;
  private firstPs: bigint | null = null;
  private greatestPs = 0n;
  private lastPs = -(2n ** 127n);
  private lastLane: FluxLane | null = null;
  /** Position of the last lane, in halves. */
  private lastLo = 0;
  private lastHi = 0;

  take(cursor: FluxCursor): void {
    const lane = this.lanes.laneOf(cursor);
    const { tag, trace, group } = cursor;
    if (cursor.isInSection || tag === FluxTag.RING) this.doubts.inRing(cursor, lane);
    if (!lane) return;
    this.entries++;
    if (group) {
      lane.lo = group.lo;
      lane.hi = group.hi;
      lane.isKnown = true;
    }
    if (group && tag !== FluxTag.CLOS) this.time(lane, group);
    if (tag === FluxTag.SAMPLE) this.sample(cursor, lane);
    else if (tag === FluxTag.HEAD) this.traceNames.set(trace!.id, cursor.text(3));
    else if (tag === FluxTag.SCPD || tag === FluxTag.SIGD || tag === FluxTag.SSGD) {
      this.items.set(`${trace!.id}:${cursor.numbers[0]}`, {
        parent: cursor.numbers[1],
        name: cursor.text(2),
      });
    } else if (tag === FluxTag.OPEN) this.laneOfItem.set(`${trace!.id}:${cursor.numbers[0]}`, lane);
    else if (tag === FluxTag.MEMD) this.member(cursor);
  }

  /** From the first time to the last in ps. */
  get spanPs(): bigint {
    this.settle();
    const span = this.greatestPs - (this.firstPs ?? 0n);
    return span > 0n ? span : 0n;
  }

  /** Per lane: its time 0 in ps, or in units of a domain that is not time. */
  get origins(): bigint[] {
    let origin = 0n;
    for (const { min, unit } of this.lanes.all) {
      const ps = toPs(min, unit);
      if (unit.isTime && ps < origin) origin = ps;
    }
    return this.lanes.all.map(({ unit, min }) => (unit.isTime ? origin : min < 0n ? min : 0n));
  }

  private time(lane: FluxLane, group: FluxGroup): void {
    const { lo, hi } = group;
    if (lane === this.lastLane && !isBefore(lo, hi, this.lastLo, this.lastHi)) {
      this.lastLo = lo;
      this.lastHi = hi;
      return;
    }
    this.settle();
    const { position } = group;
    if (position < lane.min) lane.min = position;
    const ps = toPs(position, lane.unit);
    if (ps < this.lastPs) this.isOrdered = false;
    if (this.firstPs === null || ps < this.firstPs) this.firstPs = ps;
    if (ps > this.greatestPs) this.greatestPs = ps;
    this.lastPs = ps;
    this.lastLane = lane;
    this.lastLo = lo;
    this.lastHi = hi;
  }

  /** Takes in where a lane has come, whose times have only gone on. */
  private settle(): void {
    if (!this.lastLane) return;
    const position = (BigInt(this.lastHi | 0) << 32n) | BigInt(this.lastLo >>> 0);
    this.lastPs = toPs(position, this.lastLane.unit);
    if (this.lastPs > this.greatestPs) this.greatestPs = this.lastPs;
  }

  private nameOf({ trace, id }: SurveyedSignal): string {
    return printable(this.items.get(`${trace}:${id}`)?.name || `item ${id}`);
  }

  private signalOf(trace: number, id: number): SurveyedSignal | undefined {
    return this.byTrace.get(trace)?.get(id);
  }

  private remember(signal: SurveyedSignal): void {
    const ofTrace = this.byTrace.get(signal.trace) ?? new Map<number, SurveyedSignal>();
    this.byTrace.set(signal.trace, ofTrace);
    ofTrace.set(signal.id, signal);
  }

  private member(cursor: FluxCursor): void {
    const [id, member] = cursor.numbers;
    const key = `${cursor.trace!.id}:${id}`;
    const members = this.members.get(key) ?? [];
    this.members.set(key, members);
    if (members.length >= MAX_MEMBERS || members.some((one) => one.member === member)) return;
    const type = cursor.numbers[4];
    members.push({ member, type, label: cursor.text(3), form: firstMemberForm(type) });
  }

  private sample(cursor: FluxCursor, lane: FluxLane): void {
    const { trace, id, df, xdf } = cursor;
    let signal =
      trace!.id === this.lastSignal?.trace && id === this.lastSignal.id
        ? this.lastSignal
        : this.signalOf(trace!.id, id);
    if (!signal) {
      const key = `${trace!.id}:${id}`;
      const type = trace!.typeOf(id);
      const form = FIRST_FORM[type] ?? Form.BYTES;
      const members = this.members.get(key) ?? [];
      this.members.set(key, members);
      signal = { trace: trace!.id, id, type, form, members, count: 0 };
      this.signals.set(key, signal);
      this.remember(signal);
      this.laneOfItem.set(key, lane);
    }
    this.lastSignal = signal;
    signal.count++;
    lane.hasValues = true;
    if (df === 0 && xdf === 0 && cursor.valueSize === 0) return;
    while (signal.form !== Form.BYTES && !fits(signal, df, xdf, cursor)) {
      signal.form = lesser(signal.form);
      if (signal.form === Form.BYTES) this.doubts.bytesOnly(signal, cursor, this.nameOf(signal));
    }
  }
}

/** Of two positions in halves. */
const isBefore = (lo: number, hi: number, otherLo: number, otherHi: number): boolean =>
  hi === otherHi ? lo >>> 0 < otherLo >>> 0 : (hi | 0) < (otherHi | 0);

function lesser(form: Form): Form {
  if (form === Form.INTEGER) return Form.DECIMAL;
  return form === Form.LOGIC ? Form.STATES : Form.BYTES;
}

function fits(signal: SurveyedSignal, df: number, xdf: number, cursor: FluxCursor): boolean {
  const size = cursor.valueSize;
  const { form, type } = signal;
  switch (form) {
    case Form.INTEGER:
      return size <= 8 && xdf === 0 && df === (type === FluxType.EVENT ? 2 : 1);
    case Form.DECIMAL:
      return size <= 4096 && xdf === 0 && df === (type === FluxType.EVENT ? 2 : 1);
    case Form.FLOAT:
      return df === 1 && ((xdf === 1 && size === 4) || (xdf === 2 && size === 8));
    case Form.TEXT:
      return df === 1 && xdf === 0 && isText(cursor.bytes, cursor.valueAt, size);
    case Form.BINARY:
      return df === 1 && xdf === 0;
    case Form.LOGIC:
      return df === 1 && (xdf < 2 ? size === 0 : xdf === 2 && size > 0 && size <= 8);
    case Form.STRUCT:
      return df === 1 && xdf === 0 && membersFit(signal, cursor);
    default:
      return comesBack(type, df, xdf, cursor.value, form === Form.STATES ? 4 : 1);
  }
}

function isText(bytes: Uint8Array, from: number, size: number): boolean {
  if (size > MAX_STRING_BYTES) return false;
  let at = from;
  while (at < from + size && bytes[at] > 0 && bytes[at] < 0x80) at++;
  if (at === from + size) return true;
  const rest = bytes.subarray(at, from + size);
  if (rest.includes(0)) return false;
  try {
    utf8.decode(rest);
    return true;
  } catch {
    return false;
  }
}

/** The value in memory gives the same value again, short enough for a string. */
function comesBack(type: number, df: number, xdf: number, data: Uint8Array, states: number): boolean {
  if (data.length * 8 > MAX_STRING_BYTES / states) return false;
  try {
    const value = decodeValue(type, df, xdf, data);
    if (
      value.kind === 'floats' &&
      !value.values.every((one) => Number.isFinite(one) && !Object.is(one, -0))
    ) {
      return false;
    }
    const again = encodeValue(value);
    return again.df === df && again.xdf === xdf && sameBytes(again.data, data);
  } catch {
    return false;
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Members in the order in which they were met first; a value with others in between, or twice the same, does not fit. */
function membersFit(signal: SurveyedSignal, { bytes, valueAt, valueSize }: FluxCursor): boolean {
  const known = signal.members;
  let at = 0;
  walk.open(bytes, valueAt, valueSize);
  try {
    while (walk.advance()) {
      const { member, type, size } = walk;
      let index = known[at]?.member === member ? at : known.findIndex((one) => one.member === member);
      if (index < 0) {
        if (at < known.length || known.length >= MAX_MEMBERS) return false;
        index = known.length;
        known.push({ member, type, label: '', form: firstMemberForm(type) });
      }
      const found = known[index];
      if (index < at || found.type !== type) return false;
      at = index + 1;
      if (found.form === Form.INTEGER && size > 8) found.form = Form.DECIMAL;
      if (found.form === Form.FLOAT && size !== 4 && size !== 8) found.form = Form.BYTES;
      if (found.form === Form.TEXT && !isText(bytes, walk.at, walk.size)) found.form = Form.BYTES;
      if (found.form === Form.BYTES && size * 2 > MAX_STRING_BYTES) return false;
      if (found.form === Form.DECIMAL && size > 4096) return false;
    }
    return true;
  } catch {
    return false;
  }
}

function firstMemberForm(type: number): Form {
  switch (type & 0x0f) {
    case MemberType.TEXT:
      return Form.TEXT;
    case MemberType.GLOBAL_ENUM:
    case MemberType.LOCAL_ENUM:
    case MemberType.MERGE_ENUM:
    case MemberType.INTEGER:
      return Form.INTEGER;
    case MemberType.FLOAT:
      return Form.FLOAT;
    default:
      return Form.BYTES;
  }
}

export const mappedMembers = (members: readonly SurveyedMember[]): MappedMember[] =>
  members.map(({ member, type, form }) => ({ member, type, form }));
