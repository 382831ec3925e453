/**
 * What the index of a trace counts, derived from its schema and DUT properties alone: no file needs to store it. The numbers mean what
 * `semantics/cpu/analysis` and `occupancy` count.
 */
import {
  type DutProperties,
  type EnumDef,
  type EventDef,
  FieldType,
  isCounterStorage,
  qualifiedName,
  type Schema,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
} from '../format/types.js';
import { payloadLayout, type Trace } from '../reader/index.js';
import { clockOfScope } from '../schema/clock.js';
import { type CoreEvent, type CpuCore, findCores } from '../semantics/cpu/cores.js';
import { type Channel, ChannelKind, type ClockGroup, type Labels, type PlannedCore } from './channels.js';
import { crcOfWords, encodePlan } from './plan-words.js';
import { rowPlan } from './row-plan.js';

/** Labels of an enum that get columns; values of a larger enum are counted together. */
const MAX_LABELS = 32;
/** Columns of a group beyond which events are no longer split by their labels. */
const MAX_SPLIT_COLUMNS = 4096;

export interface IndexPlan {
  readonly schema: Schema;
  readonly groups: readonly ClockGroup[];
  readonly cores: readonly PlannedCore[];
  /** The same for compiled code, and its CRC-32, which every container names. */
  readonly words: Uint32Array;
  readonly crc: number;
}

/** What the index of a trace with this schema and these DUT properties counts. */
export function indexPlan(schema: Schema, dut: DutProperties): IndexPlan {
  const cores = findCores({
    schema,
    clockOf: (scopeId) => clockOfScope(schema, scopeId),
    dutProperty: (key) => dut.find(([name]) => name === key)?.[1],
  });
  const drafts = new Map<number, GroupDraft>();
  const draftFor = (scopeId: number): GroupDraft | null => {
    const periodPs = clockOfScope(schema, scopeId)?.periodPs ?? 0;
    if (periodPs === 0) return null;
    const draft = drafts.get(periodPs) ?? new GroupDraft(schema, drafts.size, periodPs);
    drafts.set(periodPs, draft);
    return draft;
  };
  for (const def of schema.storages) draftFor(def.scopeId)?.addSlots(def);
  for (const def of schema.storages) draftFor(def.scopeId)?.addCounter(def);
  for (const def of schema.events) draftFor(def.scopeId)?.addEvent(def);
  cores.forEach((core, index) => {
    draftFor(core.scopeId)?.addCore(core, index);
  });
  const groups = [...drafts.values()].map((draft) => draft.group());
  const planned = cores.map((core) => {
    const group = drafts.get(Number(core.periodPs))?.index ?? -1;
    return { core, group, rows: rowPlan(core) };
  });
  const words = encodePlan(schema, groups, planned);
  return { schema, groups, cores: planned, words, crc: crcOfWords(words) };
}

/** Questions to an index count in small numbers: of a trace that ends later (2.5 hours) it would not be exact. */
const MAX_TIME_PS = 1n << 53n;

export function endsTooLate({ totalTimePs }: Pick<Trace, 'totalTimePs'>): boolean {
  return totalTimePs >= MAX_TIME_PS;
}

/** Whether slots of the storage are taken and freed. */
export function hasOccupancy(def: StorageDef): boolean {
  return (def.flags & (SF_SPARSE | SF_BUFFER)) !== 0;
}

/** Collects the channels of a group in their order. */
class GroupDraft {
  private readonly channels: Channel[] = [];
  private columns = 0;

  constructor(
    private readonly schema: Schema,
    readonly index: number,
    private readonly periodPs: number,
  ) {}

  group(): ClockGroup {
    const { index, periodPs, channels, columns } = this;
    return { index, periodPs, channels, columns };
  }

  addSlots(def: StorageDef): void {
    if (!hasOccupancy(def)) return;
    const name = qualifiedName(this.schema, def);
    this.add(ChannelKind.BORN, name, def.storageId, 1);
    this.add(ChannelKind.FREED, name, def.storageId, 1);
    this.add(ChannelKind.OCCUPANCY, name, def.storageId, 3);
  }

  addCounter(def: StorageDef): void {
    if (isCounterStorage(def)) this.add(ChannelKind.DELTA, qualifiedName(this.schema, def), def.storageId, 1);
  }

  addEvent(def: EventDef): void {
    const split = this.columns < MAX_SPLIT_COLUMNS ? firstLabels(this.schema, def) : null;
    const name = qualifiedName(this.schema, def);
    this.add(ChannelKind.EVENTS, name, def.eventTypeId, split?.names.length ?? 1, split);
  }

  addCore({ name, events, entities }: CpuCore, index: number): void {
    if (entities) this.add(ChannelKind.RETIRED, name, index, 1);
    const [flush, stall] = [events.get('flush'), events.get('stall')];
    if (flush) {
      this.add(ChannelKind.SQUASHED, name, index, 1);
      this.addReasons(ChannelKind.FLUSHES, name, index, flush);
    }
    if (stall) this.addReasons(ChannelKind.STALLS, name, index, stall);
  }

  private addReasons(kind: ChannelKind, name: string, index: number, event: CoreEvent): void {
    const field = event.fields.get('reason');
    const labels = field?.labels ? labelsOf(field.labels, field.offset) : null;
    this.add(kind, name, index, 1 + (labels?.names.length ?? 0), labels);
  }

  private add(
    kind: ChannelKind,
    name: string,
    subject: number,
    columns: number,
    labels: Labels | null = null,
  ): void {
    this.channels.push({ kind, name, subject, column: this.columns, columns, labels });
    this.columns += columns;
  }
}

function firstLabels(schema: Schema, { fields }: EventDef): Labels | null {
  const index = fields.findIndex(({ type }) => type === FieldType.ENUM);
  const labels = index < 0 ? undefined : schema.enums[fields[index]!.enumId];
  return labels ? labelsOf(labels, payloadLayout(fields).offsets[index] ?? 0) : null;
}

/** null: too many. Values with the same label share a column; of two labels of one value the first counts. */
function labelsOf({ values }: EnumDef, offset: number): Labels | null {
  const names = [...new Set(values.map(({ name }) => name))];
  if (names.length > MAX_LABELS) return null;
  const indexOf = new Uint8Array(256).fill(names.length);
  for (const { value, name } of [...values].reverse()) indexOf[value] = names.indexOf(name);
  return { offset, names: [...names, 'other'], indexOf };
}
