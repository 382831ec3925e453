/** The first pass of an import: which signals have values and in what form these fit, and which times occur. */
import { MAX_STRING_BYTES } from '../../format/record.js';
import type { FluxCursor } from './cursor.js';
import { type DomainUnit, toPs, unitOf } from './domains.js';
import { Form, MAX_MEMBERS, type MappedMember } from './mapping.js';
import { FluxTag, FluxType, MemberType } from './types.js';
import { decodeValue, encodeValue, membersOf } from './values.js';

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
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
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

  /** null: the entry is no content. */
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
  readonly signals = new Map<string, SurveyedSignal>();
  readonly items = new Map<string, Item>();
  private readonly members = new Map<string, SurveyedMember[]>();
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
  private lastPosition: bigint | null = null;

  take(cursor: FluxCursor): void {
    const lane = this.lanes.laneOf(cursor);
    if (!lane) return;
    this.entries++;
    const { tag, trace, group } = cursor;
    if (group && tag !== FluxTag.CLOS) this.time(lane, group.position);
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

  private time(lane: FluxLane, position: bigint): void {
    if (lane === this.lastLane && position === this.lastPosition) return;
    if (position < lane.min) lane.min = position;
    const ps = toPs(position, lane.unit);
    if (ps < this.lastPs) this.isOrdered = false;
    if (this.firstPs === null || ps < this.firstPs) this.firstPs = ps;
    if (ps > this.greatestPs) this.greatestPs = ps;
    this.lastPs = ps;
    this.lastLane = lane;
    this.lastPosition = position;
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
    const key = `${trace!.id}:${id}`;
    let signal = this.signals.get(key);
    if (!signal) {
      const type = trace!.typeOf(id);
      const form = FIRST_FORM[type] ?? Form.BYTES;
      const members = this.members.get(key) ?? [];
      this.members.set(key, members);
      signal = { trace: trace!.id, id, type, form, members, count: 0 };
      this.signals.set(key, signal);
      this.laneOfItem.set(key, lane);
    }
    signal.count++;
    lane.hasValues = true;
    if (df === 0 && xdf === 0 && cursor.valueSize === 0) return;
    while (signal.form !== Form.BYTES && !fits(signal, df, xdf, cursor)) signal.form = lesser(signal.form);
  }
}

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
      return df === 1 && xdf === 0 && isText(cursor.value);
    case Form.BINARY:
      return df === 1 && xdf === 0;
    case Form.LOGIC:
      return df === 1 && (xdf < 2 ? size === 0 : xdf === 2 && size > 0 && size <= 8);
    case Form.STRUCT:
      return df === 1 && xdf === 0 && membersFit(signal, cursor.value);
    default:
      return comesBack(type, df, xdf, cursor.value, form === Form.STATES ? 4 : 1);
  }
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_STRING_BYTES || bytes.includes(0)) return false;
  try {
    utf8.decode(bytes);
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
function membersFit(signal: SurveyedSignal, data: Uint8Array): boolean {
  const known = signal.members;
  let at = 0;
  try {
    for (const { member, type, data: value } of membersOf(data)) {
      let index = known.findIndex((one) => one.member === member);
      if (index < 0) {
        if (at < known.length || known.length >= MAX_MEMBERS) return false;
        index = known.length;
        known.push({ member, type, label: '', form: firstMemberForm(type) });
      }
      const found = known[index];
      if (index < at || found.type !== type) return false;
      at = index + 1;
      if (found.form === Form.INTEGER && value.length > 8) found.form = Form.DECIMAL;
      if (found.form === Form.FLOAT && value.length !== 4 && value.length !== 8) found.form = Form.BYTES;
      if (found.form === Form.TEXT && !isText(value)) found.form = Form.BYTES;
      if (found.form === Form.BYTES && value.length * 2 > MAX_STRING_BYTES) return false;
      if (found.form === Form.DECIMAL && value.length > 4096) return false;
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
