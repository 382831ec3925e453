/** The ready-made questions: a file of SQL each, in `sdk/macros`, whose first line says what it answers. */
import { readdir, readFile } from 'node:fs/promises';

const DIRECTORY = new URL('../../macros/', import.meta.url);

export interface Macro {
  readonly name: string;
  /** Name, parameters and what it answers, in one line. */
  readonly summary: string;
  readonly sql: string;
}

export async function loadMacros(): Promise<Macro[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, DIRECTORY), 'utf8');
      return { name: name.slice(0, -4), summary: sql.slice(3, sql.indexOf('\n')), sql };
    }),
  );
}
