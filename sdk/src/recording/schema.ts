import { addRecordingScope } from '../formats/common/recording.js';
import { SchemaBuilder, type ScopeBuilder } from '../schema/index.js';

/** Name that the helpers of SystemVerilog and Python expect unless configured otherwise. */
export const RECORDING_SCOPE = 'tr';

/** Adds the scope, and the enums that it needs, to a schema. */
export function addTransactionScope(
  builder: SchemaBuilder,
  clock: string,
  name = RECORDING_SCOPE,
): ScopeBuilder {
  return addRecordingScope(builder, clock, name);
}

/** A schema of nothing but transactions. */
export function transactionSchema(name: string) {
  const builder = new SchemaBuilder().dut('dut_name', name).clock('tick', 1);
  addTransactionScope(builder, 'tick');
  return builder.build();
}
