/** The runs that paths name: a directory with traces is a run, with one trace for each core or several. */
import { basename, dirname, resolve } from 'node:path';
import { runNameOf } from '../../dataset/files/names.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { tracesOf } from '../common/trace-file.js';

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
