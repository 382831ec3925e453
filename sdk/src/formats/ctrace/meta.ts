/** The first frame of a trace made of .ctrace: formats, units and categories, and which event type represents what. */

import { fieldSize } from '../../format/types.js';
import { payloadLayout } from '../../reader/index.js';
import type { StringOutput } from '../../stream/string-remap.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import { keepText, type MetaEvent, typesToText } from './mapping.js';
import type { MappedSchema, Roster } from './roster.js';
import type { CtraceSchema } from './types.js';

type Value = number | bigint | boolean | string;

/** @param count called before each event @throws UscopeError CONVERT_LIMIT for a text that is too long */
export function emitMeta(
  schema: CtraceSchema,
  roster: Roster,
  mapped: MappedSchema,
  batch: RecordBatch,
  strings: StringOutput,
  count: () => void,
): void {
  const emit = (name: MetaEvent, ...values: readonly Value[]): void => {
    const { fields, eventTypeId } = mapped.schema.events[mapped.meta[name]];
    const { offsets, size } = payloadLayout(fields);
    const raw = values.map((value) => (typeof value === 'string' ? strings.add(keepText(value)) : value));
    count();
    const { view, offset } = batch.event(eventTypeId, size);
    for (const [i, value] of raw.entries()) {
      put(view, offset + offsets[i], fieldSize(fields[i].type), BigInt(value));
    }
  };
  emit('file', schema.version, schema.configHash, schema.simulationName);
  for (const { id, line, isLog, logLevel, text, file, argTypes } of schema.formats) {
    emit('format', id, line, isLog, logLevel & 0xff, text, file, typesToText(argTypes));
  }
  for (const { id, name, typeName } of schema.units) emit('unit', id, name, typeName);
  for (const { mask, name, description } of schema.categories) emit('category', mask, name, description);
  for (const { eventType, formatId, source, format } of roster.pairs.values()) {
    if (eventType >= 0) emit('event_type', eventType, formatId, source, format === null);
  }
}

function put(view: DataView, at: number, size: number, value: bigint): void {
  for (let i = 0; i < size; i++) view.setUint8(at + i, Number((value >> BigInt(8 * i)) & 0xffn));
}
