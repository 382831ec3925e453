/** What the compiled tracker knows of a core: `struct tracker_plan`, but for its addresses. */
import { FieldType, fieldSize, packedSize } from '../../format/types.js';
import type { CPU } from '../../protocols/index.js';
import type { Trace } from '../../reader/index.js';
import { controlEventOf } from '../../schema/control.js';
import type { CoreEntities, CoreEventName, CpuCore } from '../cpu/cores.js';
import { EventKind, Plan, SLOTS } from './kernel/layout.js';

/** Where the period of the clock is not known: times are counted in a divisor of this. */
export const UNKNOWN_PERIOD_PS = 1_000_000_000_000n;

const NO_FIELD = 0xffff_ffff;

/** A field of the contract of an event that is followed. */
type FollowedField = {
  [Name in CoreEventName]: keyof (typeof CPU.events)[Name]['fields'];
}[CoreEventName];

/** What each event is about: its kind, and the fields in the order in which the compiled code wants them. The first ones must exist. */
const EVENTS: readonly {
  readonly name: CoreEventName;
  readonly kind: number;
  readonly fields: readonly FollowedField[];
  readonly required: number;
}[] = [
  { name: 'stage_transition', kind: EventKind.STAGE, fields: ['entity_id', 'stage'], required: 2 },
  { name: 'annotate', kind: EventKind.ANNOTATE, fields: ['entity_id', 'text', 'kind'], required: 2 },
  { name: 'dependency', kind: EventKind.DEPENDENCY, fields: ['dst_id', 'src_id', 'dep_type'], required: 1 },
  { name: 'flush', kind: EventKind.FLUSH, fields: ['entity_id', 'reason'], required: 1 },
  { name: 'stall', kind: EventKind.STALL, fields: ['entity_id', 'reason'], required: 1 },
  { name: 'trap', kind: EventKind.TRAP, fields: ['entity_id', 'cause', 'tval', 'target'], required: 1 },
];

/** Everything that is known of instructions, or only their births and how they end. */
export type Follows = 'all' | 'ends';

export interface TrackerPlan {
  readonly words: Uint32Array;
  readonly eventKinds: Uint8Array;
  readonly eventSizes: Uint32Array;
  readonly slots: number;
}

export function trackerPlan(
  { schema, isInterleaved }: Pick<Trace, 'schema' | 'isInterleaved'>,
  core: CpuCore,
  entities: CoreEntities,
  adoptsStrangers: boolean,
  follows: Follows,
): TrackerPlan {
  const { def, idField, pcField, bitsField, compressedField, threadField } = entities;
  const words = new Uint32Array(Plan.WORDS);
  const eventKinds = new Uint8Array(schema.events.length);
  const eventSizes = Uint32Array.from(schema.events, ({ fields }) => packedSize(fields));
  const slots = Math.min(def.numSlots, SLOTS);
  words.set([def.storageId, slots], Plan.STORAGE);
  const fields = [idField, pcField, bitsField, compressedField, threadField];
  words.set(
    fields.map((field) => (field < 0 ? NO_FIELD : field)),
    Plan.ID_FIELD,
  );
  words[Plan.NUM_EVENTS] = schema.events.length;
  words[Plan.ADOPTS_STRANGERS] = Number(adoptsStrangers);
  words[Plan.EVENTS_LAST] = Number(!isInterleaved);
  const period = core.periodPs > 0n ? core.periodPs : UNKNOWN_PERIOD_PS;
  words.set([Number(period & 0xffff_ffffn), Number(period >> 32n)], Plan.PERIOD);
  // As in Tracker: an event of the core has the last word on its type.
  const control = controlEventOf(schema);
  if (control >= 0 && eventSizes[control] > 0) eventKinds[control] = EventKind.CONTROL;
  for (const { name, kind, fields, required } of EVENTS) {
    const event = core.events.get(name);
    if (!event || (follows === 'ends' && kind !== EventKind.FLUSH)) continue;
    const found = fields.map((field) => event.fields.get(field));
    const isText = kind !== EventKind.ANNOTATE || found[1]?.type === FieldType.STRING_REF;
    if (!isText || found.slice(0, required).includes(undefined)) continue;
    eventKinds[event.def.eventTypeId] = kind;
    found.forEach((field, index) => {
      if (!field) return;
      const isWide = kind === EventKind.TRAP && index > 0;
      const size = fieldSize(field.type);
      const at = Plan.FIELDS + (kind * 4 + index) * 2;
      words.set([field.offset, isWide ? size : Math.min(size, 4)], at);
    });
  }
  return { words, eventKinds, eventSizes, slots };
}
