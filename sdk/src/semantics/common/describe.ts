/** What the protocols share: where the fields of an event lie, and the names of stages. */
import { type ClockDef, type EnumDef, type EventDef, FieldType, type Schema } from '../../format/types.js';
import { type EventContract, isReadable, unreadFields } from '../../protocols/index.js';
import { payloadLayout } from '../../reader/payload.js';

/** What descriptions are derived from: a trace, or what a writer knows before there is one. */
export interface Described {
  readonly schema: Schema;
  clockOf(scopeId: number): ClockDef | undefined;
  dutProperty(key: string): string | undefined;
}

/** The place of a field of an event in the payload. */
export interface EventField {
  readonly offset: number;
  readonly type: FieldType;
  /** The enum of an ENUM field, else null. */
  readonly labels: EnumDef | null;
}

/** An event of the conventions, with those of its fields that the trace has, in order. */
export interface ProtocolEvent {
  readonly def: EventDef;
  readonly fields: ReadonlyMap<string, EventField>;
}

/** For events that no protocol has. */
const NO_CONTRACT: EventContract = { fields: {} };

/** The first event of that name with its readable fields; null when there is none, or when it lacks one that the contract requires. */
export function describeEvent(
  schema: Schema,
  events: readonly EventDef[],
  name: string,
  contract: EventContract = NO_CONTRACT,
): ProtocolEvent | null {
  const def = events.find((event) => event.name === name);
  if (!def || !isReadable(def, contract)) return null;
  const { offsets } = payloadLayout(def.fields);
  const unread = unreadFields(def.fields, contract);
  const fields = new Map(
    def.fields.flatMap((field, index) => {
      if (unread.has(field)) return [];
      const labels = field.type === FieldType.ENUM ? (schema.enums[field.enumId] ?? null) : null;
      return [[field.name, { offset: offsets[index] ?? 0, type: field.type, labels }] as const];
    }),
  );
  return { def, fields };
}

/** A DUT property of one scope (`mesh/noc.pipeline_stages`), else that of the whole trace. */
export function scopeProperty(
  trace: Pick<Described, 'dutProperty'>,
  path: string,
  key: string,
): string | undefined {
  return (path ? trace.dutProperty(`${path}/${key}`) : undefined) ?? trace.dutProperty(key);
}

/** Those of a property (a comma list), else the labels of the enum. Stages that only the enum has come last. */
export function stageNames(property: string | undefined, labels: EnumDef | null): string[] {
  const listed = (property ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const ofEnum = labels?.values.map((value) => value.name) ?? [];
  if (listed.length === 0) return ofEnum;
  const isRenamed = ofEnum.length === listed.length;
  return isRenamed ? listed : [...listed, ...ofEnum.filter((name) => !listed.includes(name))];
}

/** A value means the stage of its label; where the list uses other names than the enum, the one at its position. */
export function stageLookup(stages: readonly string[], labels: EnumDef | null): (value: number) => number {
  const known = new Map<number, number>();
  labels?.values.forEach(({ value, name }, position) => {
    const byName = stages.indexOf(name);
    const index = byName >= 0 ? byName : position;
    if (!known.has(value) && index < stages.length) known.set(value, index);
  });
  if (!labels) for (const index of stages.keys()) known.set(index, index);
  return (value) => known.get(value) ?? -1;
}
