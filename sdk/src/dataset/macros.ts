/** The ready-made questions: a file of SQL each, in `sdk/macros`, whose first line says what it answers. */
import { readdir, readFile } from 'node:fs/promises';

const DIRECTORY = new URL('../../macros/', import.meta.url);

export interface Macro {
  readonly name: string;
  /** Name, parameters and what it answers, in one line. */
  readonly summary: string;
  readonly sql: string;
}

/** Those that others use first. */
export async function loadMacros(): Promise<Macro[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.sql')).sort();
  const macros = await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, DIRECTORY), 'utf8');
      return { name: name.slice(0, -4), summary: sql.slice(3, sql.indexOf('\n')), sql };
    }),
  );
  return inOrderOfUse(macros);
}

function inOrderOfUse(macros: readonly Macro[]): Macro[] {
  const ordered = new Set<Macro>();
  const add = (macro: Macro): void => {
    for (const other of macros) {
      const isUsed = other !== macro && new RegExp(`\\b${other.name}\\(`).test(bodyOf(macro));
      if (isUsed && !ordered.has(other)) add(other);
    }
    ordered.add(macro);
  };
  for (const macro of macros) if (!ordered.has(macro)) add(macro);
  return [...ordered];
}

const bodyOf = ({ sql }: Macro): string => sql.slice(sql.indexOf('\n'));
