/** What a merged trace will look like; nothing is written before this is known to fit the format. */
import { UscopeError } from '../../base/errors.js';
import { encodeSchemaPayload } from '../../format/schema-chunk.js';
import type { DutProperties, Schema } from '../../format/types.js';
import { stateLayout } from '../../state/layout.js';
import { mergeDut } from './dut.js';
import { type MergeInput, type NamedInput, nameInputs } from './names.js';
import { type InputMap, mergeSchemas } from './schema.js';

export interface MergePlan {
  readonly inputs: readonly NamedInput[];
  readonly maps: readonly InputMap[];
  readonly schema: Schema;
  readonly dut: DutProperties;
  /** What a user should know: names that had to be changed. */
  readonly notes: readonly string[];
}

/** Storage ids above this have no compact form (docs/reference/format.md#compact-ops). */
const MAX_COMPACT_STORAGES = 256;

/**
 * @param name DUT name of the whole
 * @throws UscopeError SCHEMA_LIMIT when the inputs together exceed what one file can define, SCHEMA_NAME, SCHEMA_DUPLICATE
 */
export async function planMerge(inputs: readonly MergeInput[], name: string): Promise<MergePlan> {
  const notes: string[] = [];
  const named = await nameInputs(inputs, notes);
  const { schema, maps } = mergeSchemas(named, notes);
  const dut = mergeDut(named, maps, schema, name);
  checkLimits(schema, dut);
  const storages = schema.storages.length;
  if (storages > MAX_COMPACT_STORAGES) {
    notes.push(
      `${storages} storages: frames that touch one beyond the first ${MAX_COMPACT_STORAGES} take 16 bytes per op instead of 9`,
    );
  }
  return { inputs: named, maps, schema, dut, notes };
}

function checkLimits(schema: Schema, dut: DutProperties): void {
  try {
    encodeSchemaPayload(schema, dut);
    stateLayout(schema);
  } catch (error) {
    if (!(error instanceof UscopeError)) throw error;
    const detail = `the inputs together do not fit one file: ${error.detail}; merge fewer of them`;
    throw new UscopeError(error.code, detail, error.place, { cause: error });
  }
}
