/** The scope `uscope` with the event `control`: what was switched off, switched on and triggered while a trace was recorded (docs/how-to/control.md). */
import { isUscopeError } from '../base/errors.js';
import { FieldType, INHERIT_CLOCK, NO_ID, type Schema } from '../format/types.js';
import { validateSchema } from './validate.js';

export const CONTROL_SCOPE = 'uscope';
export const CONTROL_EVENT = 'control';
/** Values of the event's field `action`, by name; of `source`. */
export const CONTROL_ACTIONS = ['pause', 'resume', 'disable', 'enable', 'trigger'] as const;
const CONTROL_SOURCES = ['testbench', 'operator', 'daemon'] as const;

/**
 * The schema with the control event after everything else, so that no id changes. A schema that has a root scope `uscope` already, or
 * no room for another, is returned as it is. The daemon does this to every schema; models that write files by themselves may.
 */
export function withControlEvent(schema: Schema): Schema {
  if (schema.scopes.some(({ name, parentId }) => name === CONTROL_SCOPE && isRootLevel(parentId)))
    return schema;
  const extended = extend(schema);
  try {
    validateSchema(extended);
  } catch (error) {
    if (isUscopeError(error)) return schema;
    throw error;
  }
  return extended;
}

/** Number of the control event's type, -1 in a schema without. */
export function controlEventOf(schema: Schema): number {
  const scope = schema.scopes.find(({ name, parentId }) => name === CONTROL_SCOPE && isRootLevel(parentId));
  const isControl = (event: Schema['events'][number]): boolean =>
    event.name === CONTROL_EVENT && event.scopeId === scope?.scopeId && event.fields.length === 4;
  return schema.events.find(isControl)?.eventTypeId ?? -1;
}

function isRootLevel(parentId: number): boolean {
  return parentId === 0 || parentId === NO_ID;
}

function extend(schema: Schema): Schema {
  const { scopes, enums, events } = schema;
  const scopeId = scopes.length;
  const field = (name: string, type: FieldType, enumId = 0) => ({ name, type, enumId, role: 0, pairId: 0 });
  return {
    ...schema,
    scopes: [
      ...scopes,
      {
        name: CONTROL_SCOPE,
        scopeId,
        parentId: scopeId === 0 ? NO_ID : 0,
        protocol: null,
        clockId: INHERIT_CLOCK,
      },
    ],
    enums: [
      ...enums,
      enumOf('uscope_control_action', CONTROL_ACTIONS),
      enumOf('uscope_control_source', CONTROL_SOURCES),
    ],
    events: [
      ...events,
      {
        name: CONTROL_EVENT,
        eventTypeId: events.length,
        scopeId,
        fields: [
          field('action', FieldType.ENUM, enums.length),
          field('source', FieldType.ENUM, enums.length + 1),
          field('subject', FieldType.STRING_REF),
          field('text', FieldType.STRING_REF),
        ],
      },
    ],
  };
}

function enumOf(name: string, labels: readonly string[]) {
  return { name, values: labels.map((label, value) => ({ value, name: label })) };
}
