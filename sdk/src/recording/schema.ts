/** The scope in which transactions are recorded as they happen: the same for every testbench, whatever it declares later. */
import { FieldType } from '../format/types.js';
import { RECORDING_PROTOCOL, ROOT_EVENTS } from '../formats/ftr/event-schema.js';
import { PHASE_NAMES, TYPE_NAMES } from '../formats/ftr/types.js';
import { type Fields, SchemaBuilder, type ScopeBuilder } from '../schema/index.js';

/** Name that the helpers of SystemVerilog and Python expect unless configured otherwise. */
export const RECORDING_SCOPE = 'tr';

const TYPE_WORDS: ReadonlyMap<FieldType | string, string> = new Map<FieldType | string, string>([
  [FieldType.U8, 'u8'],
  [FieldType.U16, 'u16'],
  [FieldType.U32, 'u32'],
  [FieldType.U64, 'u64'],
  [FieldType.STRING_REF, 'string'],
]);

/** Adds the scope, and the enums that it needs, to a schema. */
export function addTransactionScope(
  builder: SchemaBuilder,
  clock: string,
  name = RECORDING_SCOPE,
): ScopeBuilder {
  builder.enum('ftr_phase', PHASE_NAMES).enum('ftr_type', TYPE_NAMES);
  const scope = builder.scope(name, { protocol: RECORDING_PROTOCOL, clock });
  for (const [event, fields] of Object.entries(ROOT_EVENTS)) {
    const named: Fields = Object.fromEntries(
      fields.map(([field, type]) => [field, TYPE_WORDS.get(type) ?? String(type)]),
    );
    scope.event(event, named);
  }
  return scope;
}

/** A schema of nothing but transactions. */
export function transactionSchema(name: string) {
  const builder = new SchemaBuilder().dut('dut_name', name).clock('tick', 1);
  addTransactionScope(builder, 'tick');
  return builder.build();
}
