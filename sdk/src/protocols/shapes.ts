/** Fields of a contract as schemas have them, for those that make a schema. */
import type { EventContract } from './model.js';

/** Name -> type: all fields of a storage or event, or those that are named, in that order. */
export function fieldsOf<C extends EventContract, Name extends keyof C['fields'] & string>(
  contract: C,
  names: readonly Name[] = Object.keys(contract.fields) as Name[],
): { readonly [N in Name]: string } {
  return Object.fromEntries(names.map((name) => [name, wordOf(contract, name)])) as { [N in Name]: string };
}

function wordOf(contract: EventContract, name: string): string {
  const { type, enum: labels } = contract.fields[name]!;
  return labels ?? (type === 'wide' ? 'u64' : type);
}
