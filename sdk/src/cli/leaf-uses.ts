/** What the leaves that are there add to verbs that do not depend on them. */
import type { Command } from 'commander';
import type { AfterRun, Leaf, ServedSqlClass, Verb } from './common/leaf.js';
import * as leaves from './leaves.js';

const LEAVES: readonly Leaf[] = Object.values(leaves);

export const LEAF_VERBS: Readonly<Record<string, Verb>> = Object.assign(
  {},
  ...LEAVES.map(({ verbs }) => verbs),
);

export function addRunOptions(command: Command): void {
  for (const leaf of LEAVES) leaf.addRunOptions?.(command);
}

/** @throws UscopeError CLI_USAGE */
export async function afterRun(options: Readonly<Record<string, unknown>>): Promise<AfterRun[]> {
  const all = await Promise.all(LEAVES.map((leaf) => leaf.afterRun?.(options)));
  return all.filter((one) => one !== undefined);
}

/** Null: no leaf answers SQL. */
export async function servedSql(): Promise<ServedSqlClass | null> {
  return (await LEAVES.find((leaf) => leaf.servedSql)?.servedSql?.()) ?? null;
}
