/** The runs that paths name: a directory with traces is a run, with one trace for each core or several. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { runNameOf } from '../../dataset/files/names.js';
import { isHttpUrl } from '../../reader/http-url.js';

export interface RunFiles {
  /** Made of the directory's name. */
  readonly run: string;
  readonly files: string[];
}

/** @throws UscopeError READER_OPEN for a directory without traces */
export async function runsOf(paths: readonly string[]): Promise<RunFiles[]> {
  const runs = new Map<string, RunFiles>();
  for (const path of paths) {
    for (const file of await tracesOf(path)) {
      const directory = isHttpUrl(file) ? dirname(new URL(file).pathname) : dirname(resolve(file));
      const one = runs.get(directory) ?? { run: runNameOf(basename(directory) || 'run'), files: [] };
      if (!one.files.includes(file)) one.files.push(file);
      runs.set(directory, one);
    }
  }
  return [...runs.values()];
}

/** The traces of a directory, those of directories below it too. @throws UscopeError READER_OPEN for none */
export async function tracesOf(path: string): Promise<string[]> {
  if (isHttpUrl(path)) return [path];
  const there = await stat(path).catch(() => null);
  if (!there?.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  const traces = names.filter((name) => name.endsWith('.uscope') && !basename(name).startsWith('.')).sort();
  if (traces.length > 0) return traces.map((name) => join(path, name));
  throw new UscopeError('READER_OPEN', 'there is no trace (*.uscope) in this directory', { file: path });
}
