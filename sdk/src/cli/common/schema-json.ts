/** Schema, DUT and session as the JSON that `info` and `schema` print. */

import { NO_CORE, type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import {
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  PropertyRole,
  SF_BUFFER,
  SF_SPARSE,
  scopePath,
} from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import type { Trace } from '../../reader/index.js';

const TYPE_NAMES = new Map(
  Object.entries(FieldType).map(([name, type]) => [
    type,
    name === 'STRING_REF' ? 'string' : name.toLowerCase(),
  ]),
);
const ROLE_NAMES = new Map<number, string>([
  [PropertyRole.HEAD, 'head'],
  [PropertyRole.TAIL, 'tail'],
]);
const STATUS_NAMES = new Map<number, string>(
  Object.entries(SessionStatus).map(([name, status]) => [status, name.toLowerCase()]),
);

/** Type as in a schema text, but enums as `enum` and their name. */
export function typeName(field: FieldDef): string {
  return TYPE_NAMES.get(field.type) ?? `type ${field.type}`;
}

export function clocksJson({ schema }: Trace) {
  return schema.clocks.map(({ clockId, name, periodPs }) => ({ id: clockId, name, periodPs }));
}

export function scopesJson({ schema }: Trace) {
  return schema.scopes.map(({ scopeId, name, parentId, protocol, clockId }) => ({
    id: scopeId,
    name,
    path: scopePath(schema, scopeId),
    parent: parentId === NO_ID ? null : parentId,
    protocol,
    clock: clockId === INHERIT_CLOCK ? null : (schema.clocks[clockId]?.name ?? null),
  }));
}

export function storagesJson(trace: Trace) {
  return trace.schema.storages.map((storage) => ({
    id: storage.storageId,
    name: trace.names.storageNames[storage.storageId],
    scope: scopeOrNull(storage.scopeId),
    slots: storage.numSlots,
    sparse: (storage.flags & SF_SPARSE) !== 0,
    buffer: (storage.flags & SF_BUFFER) !== 0,
    fields: fieldsJson(storage.fields, (field) => fieldJson(trace, field)),
    properties: fieldsJson(storage.properties, (field) => propertyJson(trace, field)),
  }));
}

export function eventsJson(trace: Trace) {
  return trace.schema.events.map((event) => ({
    id: event.eventTypeId,
    name: trace.names.eventNames[event.eventTypeId],
    scope: scopeOrNull(event.scopeId),
    fields: fieldsJson(event.fields, (field) => fieldJson(trace, field)),
  }));
}

export function enumsJson({ schema }: Trace) {
  return schema.enums.map(({ name, values }) => ({ name, values: values.map((value) => ({ ...value })) }));
}

export function summaryFieldsJson({ schema }: Trace) {
  return schema.summaryFields.map(({ name, type, scopeId }) => ({
    name,
    type: TYPE_NAMES.get(type) ?? `type ${type}`,
    scope: scopeOrNull(scopeId),
  }));
}

export function dutJson({ dut }: Trace): Record<string, string> {
  return Object.fromEntries(dut);
}

export function sessionJson(session: SessionInfo | null) {
  if (!session) return null;
  return {
    sessionId: hex(session.sessionId),
    runId: hex(session.runId),
    coreIndex: session.coreIndex === NO_CORE ? null : session.coreIndex,
    status: statusName(session),
    startTimeMs: session.startTimeMs,
    endTimeMs: session.endTimeMs,
    lost: session.lost,
    completed: session.completed?.isExact ? session.completed.frames : null,
    atLeast: session.completed?.frames ?? null,
    rejected: session.rejected,
  };
}

/** `open`, `closed`, `client_lost`, `recovered`, `ring`. */
export function statusName(session: SessionInfo): string {
  return STATUS_NAMES.get(session.status) ?? `status ${session.status}`;
}

interface FieldJson {
  readonly name: string;
  readonly type: string;
  readonly enum?: string | null;
  readonly role?: string;
  readonly pair?: number;
  /** Of the type `wide`. */
  readonly bits?: number;
  readonly states?: number;
}

/** Fields or properties, wide ones as one. */
function fieldsJson(fields: readonly FieldDef[], plain: (field: FieldDef) => FieldJson): FieldJson[] {
  return logicalFields(fields).map(({ name, bits, pieces, unknown }) =>
    bits === 0 ? plain(fields[pieces[0]]) : { name, type: 'wide', bits, states: unknown.length > 0 ? 4 : 2 },
  );
}

function fieldJson({ schema }: Trace, field: FieldDef): FieldJson {
  const name = { name: field.name, type: typeName(field) };
  return field.type === FieldType.ENUM ? { ...name, enum: schema.enums[field.enumId]?.name ?? null } : name;
}

function propertyJson(trace: Trace, field: FieldDef): FieldJson {
  const role = ROLE_NAMES.get(field.role);
  return role ? { ...fieldJson(trace, field), role, pair: field.pairId } : fieldJson(trace, field);
}

function scopeOrNull(scopeId: number): number | null {
  return scopeId === NO_ID ? null : scopeId;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
