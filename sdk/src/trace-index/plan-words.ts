/**
 * The plan as u32 words, as the compiled pass takes it (sdk/kernel/index/plan.h has the same layout):
 *
 *   head: layout, storages, events, groups, cores, then the first word of the tables of groups, storages, events, cores, label maps; total
 *   group: period in ps, columns, 0, 0
 *   storage: kind, group, first column, slots, bytes of a slot, core + 1 whose catalog it is, fields of a slot, 0
 *   event: payload bytes, group, column, offset of the label + 1, map, role, core, offset of the first string + 1
 *   core: group, catalog, its slots, id field, offset of the id in a slot, its bytes; flush: offset of the id + 1, its bytes, offset of the
 *     reason + 1, map; columns of RETIRED, SQUASHED, FLUSHES and how many, STALLS and how many; stall: offset of the reason + 1, map; pc and
 *     machine code: field, offset in a slot, bytes; stage event: offset of the id + 1, its bytes, of the stage + 1, its bytes, map; columns of
 *     stages (0: the core has no rows); stall: offset of the id + 1, its bytes; word size by which machine code is counted (0: it is not)
 *   map: 256 bytes, value -> index of the column
 *
 * NONE is 0xFFFFFFFF.
 */
import { crc32 } from '../base/crc32.js';
import {
  fieldSize,
  isCounterStorage,
  packedSize,
  type Schema,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
} from '../format/types.js';
import { payloadLayout } from '../reader/index.js';
import { type PayloadField, payloadField } from '../semantics/cpu/payload-field.js';
import { type Channel, ChannelKind, type ClockGroup, type Labels, type PlannedCore } from './channels.js';
import { type SlotField, stringOffsets } from './row-plan.js';

const LAYOUT = 6;
const HEAD_WORDS = 12;
const MAP_WORDS = 64;
const NONE = 0xffff_ffff;

const StorageKind = { NONE: 0, SPARSE: 1, DENSE_BUFFER: 2, COUNTER: 3 } as const;
const EventRole = { NONE: 0, FLUSH: 1, STALL: 2, STAGE: 3 } as const;

export function crcOfWords(words: Uint32Array): number {
  const bytes = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => {
    bytes.setUint32(index * 4, word, true);
  });
  return crc32(new Uint8Array(bytes.buffer));
}

export function encodePlan(
  schema: Schema,
  groups: readonly ClockGroup[],
  cores: readonly PlannedCore[],
): Uint32Array {
  const maps = new Maps();
  const strings = stringOffsets(schema);
  const groupOf = new Map(
    groups.flatMap(({ index, channels }) => channels.map((channel) => [channel, index] as const)),
  );
  const find = (subject: number, ...kinds: readonly ChannelKind[]): Channel | undefined =>
    [...groupOf.keys()].find((channel) => channel.subject === subject && kinds.includes(channel.kind));
  const tables = [
    groups.flatMap(({ periodPs, columns }) => [periodPs, columns, 0, 0]),
    schema.storages.flatMap((def) => {
      const channel = find(def.storageId, ChannelKind.BORN, ChannelKind.DELTA);
      const core = cores.findIndex(
        ({ core: { entities }, group }) => group >= 0 && entities?.def.storageId === def.storageId,
      );
      const place = channel ? [groupOf.get(channel) ?? NONE, channel.column] : [NONE, 0];
      return [kindOf(def), ...place, def.numSlots, packedSize(def.fields), core + 1, def.fields.length, 0];
    }),
    schema.events.flatMap((def) => {
      const channel = find(def.eventTypeId, ChannelKind.EVENTS);
      const place = channel ? [groupOf.get(channel) ?? NONE, channel.column] : [NONE, 0];
      return [
        packedSize(def.fields),
        ...place,
        ...labelWords(maps, channel),
        ...roleOf(cores, def.eventTypeId),
        strings[def.eventTypeId]! + 1,
      ];
    }),
    cores.flatMap((core, index) => coreWords(core, (kind) => find(index, kind), maps)),
    maps.words,
  ];
  const starts: number[] = [];
  let at = HEAD_WORDS;
  for (const table of tables) {
    starts.push(at);
    at += table.length;
  }
  const counts = [schema.storages.length, schema.events.length, groups.length, cores.length];
  return Uint32Array.from([LAYOUT, ...counts, ...starts, at, 0, ...tables.flat()]);
}

function kindOf(def: StorageDef): number {
  if ((def.flags & SF_SPARSE) !== 0) return StorageKind.SPARSE;
  if ((def.flags & SF_BUFFER) !== 0) return StorageKind.DENSE_BUFFER;
  return isCounterStorage(def) ? StorageKind.COUNTER : StorageKind.NONE;
}

function labelWords(maps: Maps, channel: Channel | undefined): [offset: number, map: number] {
  const labels = channel?.labels;
  return labels ? [labels.offset + 1, maps.add(labels)] : [0, NONE];
}

function roleOf(cores: readonly PlannedCore[], eventType: number): [role: number, core: number] {
  for (const [index, { core, group, rows }] of cores.entries()) {
    if (group < 0) continue;
    if (core.events.get('flush')?.def.eventTypeId === eventType) return [EventRole.FLUSH, index];
    if (core.events.get('stall')?.def.eventTypeId === eventType) return [EventRole.STALL, index];
    if (rows?.stageEvent?.type === eventType) return [EventRole.STAGE, index];
  }
  return [EventRole.NONE, NONE];
}

function coreWords(
  { core, group, rows }: PlannedCore,
  find: (kind: ChannelKind) => Channel | undefined,
  maps: Maps,
): number[] {
  const { entities } = core;
  const flush = core.events.get('flush');
  const flushId = flush ? payloadField(flush, 'entity_id') : null;
  const [flushes, stalls] = [find(ChannelKind.FLUSHES), find(ChannelKind.STALLS)];
  const idField = entities?.idField ?? -1;
  const idOffset = entities && idField >= 0 ? payloadLayout(entities.def.fields).offsets[idField]! : 0;
  const idBytes = entities && idField >= 0 ? Math.min(fieldSize(entities.def.fields[idField]!.type), 4) : 0;
  const words = [
    group < 0 ? NONE : group,
    entities?.def.storageId ?? NONE,
    entities?.def.numSlots ?? 0,
    idField < 0 ? NONE : idField,
    idOffset,
    idBytes,
    ...placeOf(flushId),
    ...labelWords(maps, flushes),
    find(ChannelKind.RETIRED)?.column ?? NONE,
    find(ChannelKind.SQUASHED)?.column ?? NONE,
    flushes?.column ?? NONE,
    flushes?.columns ?? 0,
    stalls?.column ?? NONE,
    stalls?.columns ?? 0,
    ...labelWords(maps, stalls),
    ...slotField(rows?.pc ?? null),
    ...slotField(rows?.bits ?? null),
    ...placeOf(rows?.stageEvent?.id ?? null),
    ...placeOf(rows?.stageEvent?.stage ?? null),
    rows?.stageEvent ? maps.add({ indexOf: rows.stageOf }) : NONE,
    rows && group >= 0 ? rows.stages : 0,
    ...placeOf(rows?.stallId ?? null),
    rows?.mixXlen ?? 0,
  ];
  return words;
}

function slotField(field: SlotField | null): [field: number, offset: number, bytes: number] {
  return field ? [field.index, field.offset, field.bytes] : [NONE, 0, 0];
}

function placeOf(field: PayloadField | null): [offset: number, bytes: number] {
  return field ? [field.offset + 1, field.size] : [0, 0];
}

/** The tables from values to columns. */
class Maps {
  readonly words: number[] = [];

  add({ indexOf }: Pick<Labels, 'indexOf'>): number {
    const index = this.words.length / MAP_WORDS;
    const view = new DataView(indexOf.buffer, indexOf.byteOffset);
    for (let word = 0; word < MAP_WORDS; word++) this.words.push(view.getUint32(word * 4, true));
    return index;
  }
}
