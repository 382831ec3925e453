/** The DUT properties (docs/reference/format.md#dut-descriptor) of several traces in one. */
import { type DutProperties, type Schema, scopePath } from '../../format/types.js';
import type { NamedInput } from './names.js';
import type { InputMap } from './schema.js';

export const MERGE_KEY = 'uscope.merge_of';
const DUT_NAME = 'dut_name';

/**
 * A property that all inputs have with one value stays as it is. Any other goes to the scope it comes from: `core1/cpu.isa`, as does a key
 * that begins with a scope path already. `dut_name` is that of the whole.
 */
export function mergeDut(
  inputs: readonly NamedInput[],
  maps: readonly InputMap[],
  schema: Schema,
  name: string,
): DutProperties {
  const common = commonProperties(inputs);
  const dut = new Map<string, string>([[DUT_NAME, name]]);
  for (const [key, value] of common) dut.set(key, value);
  inputs.forEach((input, index) => {
    for (const [key, value] of input.trace.dut) {
      if (!common.has(key)) dut.set(scopedKey(key, input, maps[index], schema), value);
    }
  });
  dut.set(MERGE_KEY, inputs.map((input) => input.name).join(','));
  return [...dut];
}

function commonProperties(inputs: readonly NamedInput[]): Map<string, string> {
  const [first] = inputs;
  const shared = first.trace.dut.filter(
    ([key, value]) =>
      key !== DUT_NAME &&
      key !== MERGE_KEY &&
      !key.includes('/') &&
      inputs.every(({ trace }) => trace.dutProperty(key) === value),
  );
  return new Map(shared);
}

/** The key below the input's scope; one that begins with the path of a scope keeps to that scope, wherever it is now. */
function scopedKey(key: string, { trace, scope }: NamedInput, { scopes }: InputMap, schema: Schema): string {
  let best = '';
  let path = scope;
  for (const { scopeId } of trace.schema.scopes) {
    const old = scopePath(trace.schema, scopeId);
    if (old === '' || old.length < best.length || !key.startsWith(`${old}/`)) continue;
    best = old;
    path = scopePath(schema, scopes[scopeId]);
  }
  return `${path}/${best === '' ? key : key.slice(best.length + 1)}`;
}
