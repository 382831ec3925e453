/** An empty table says nothing when it could have no rows: there is no such thing in the traces, or it was not exported. */

import { runNames } from './distinct-runs.js';
import { readRecord, type TableName } from './layout.js';

/** What a trace needs to have rows of a table. */
const NEEDS: Partial<Record<TableName, { readonly kind: string; readonly what: string }>> = {
  ...Object.fromEntries(
    ['instructions', 'stages', 'stalls', 'occupancy', 'cycles'].map((table) => [
      table,
      { kind: 'cpu', what: 'core of a processor (protocol cpu)' },
    ]),
  ),
  transactions: { kind: 'noc', what: 'network (protocol noc)' },
};

/** @param kinds of all that the sources have */
export async function whyEmpty(
  roots: readonly string[],
  tables: readonly TableName[],
  kinds: readonly string[],
): Promise<string[]> {
  const exported = new Set<string>();
  for (const root of roots)
    for (const run of await runNames(root))
      for (const table of (await readRecord(root, run))?.tables ?? []) exported.add(table);
  return tables.flatMap((table) => {
    const need = NEEDS[table];
    if (need && !kinds.includes(need.kind))
      return [`${table} can have no rows: no trace of the sources has a ${need.what}`];
    return exported.has(table)
      ? []
      : [`${table} has no rows, since it was not exported: uscope export --tables ${table}, or all`];
  });
}
