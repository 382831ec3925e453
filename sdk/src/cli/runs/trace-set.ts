/** Several traces on a command line: files, or directories, which represent the traces of their newest run. */

import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Trace } from '../../reader/index.js';
import { io } from '../common/io.js';
import { withTrace } from '../common/trace-file.js';

/**
 * The files and URLs that the arguments represent, in their order, each once. Of a directory: those recorded in its newest run that can be read, in
 * the order of their cores.
 * @throws UscopeError READER_OPEN for a directory without traces
 */
export async function expandTraces(paths: readonly string[]): Promise<string[]> {
  const all: string[] = [];
  for (const path of paths) appendAll(all, (await isDirectory(path)) ? await newestRun(path) : [path]);
  return [...new Set(all)];
}

async function isDirectory(path: string): Promise<boolean> {
  if (isHttpUrl(path)) return false;
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // the code that opens it says why it cannot
  );
}

async function newestRun(directory: string): Promise<string[]> {
  // Loaded only for directories: it brings half of the package with it.
  const { listRuns } = await import('./listing.js');
  const runs = await listRuns(directory, (text) => io.err(`uscope: warning: ${text}`));
  const known = runs.filter(({ id }) => id !== null);
  const newest = known.at(-1) ?? runs.at(-1);
  // A merged trace holds the cores of others once more.
  const recorded = newest?.traces.filter(({ mergeOf }) => mergeOf === null) ?? [];
  const usable = recorded.filter(({ state }) => state !== 'damaged');
  for (const { path, state, reason } of recorded) {
    if (state === 'damaged') io.err(`uscope: warning: ${reason} (${path}); it is left out`);
  }
  if (usable.length === 0)
    throw new UscopeError('READER_OPEN', 'there are no readable traces (*.uscope) in the directory', {
      file: directory,
    });
  if (known.length > 1) {
    io.err(`uscope: note: ${directory} holds ${known.length} runs; this is the newest, ${newest?.id ?? ''}`);
  }
  return usable.map(({ path }) => path);
}

/** Names that distinguish the cores of several traces: the core's own where no other has it, else with that of its file. */
export function distinctNames(cores: readonly { readonly file: string; readonly core: string }[]): string[] {
  const count = (names: readonly string[], name: string): number =>
    names.filter((other) => other === name).length;
  const plain = cores.map(({ core }) => core);
  const long = cores.map(({ file, core }) => `${basename(file).replace(/\.uscope$/, '')}:${core}`);
  const longest = cores.map(({ file, core }) => `${file}:${core}`);
  return plain.map((name, index) => {
    if (count(plain, name) === 1) return name;
    return count(long, long[index]) === 1 ? long[index] : longest[index];
  });
}

/** Runs `use` on several traces and closes them. The code that reads them names the file in errors, else the last one is named. */
export async function withTraces<T>(
  paths: readonly string[],
  use: (traces: readonly Trace[]) => Promise<T>,
  open: readonly Trace[] = [],
): Promise<T> {
  if (open.length === paths.length) return use(open);
  return withTrace(paths[open.length], (trace) => withTraces(paths, use, [...open, trace]));
}
