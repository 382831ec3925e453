/** `uscope view A B`: two runs beside each other; with more traces, all of them on one time axis. Until Ctrl-C. */

import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { maxOf } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { foreignFormatOf } from '../common/foreign.js';
import { io } from '../common/io.js';
import { announce, raised } from './announce.js';
import { Conversion, type ConversionWishes } from './conversion.js';
import { openProgram, openToServe } from './open.js';
import type { OpenTrace } from './server/served-trace.js';
import { serveComparison, serveTogether } from './server/several-server.js';

export interface ViewSeveralRequest extends ConversionWishes {
  /** Two are compared. */
  readonly files: readonly string[];
  /** Path of the program's ELF file. */
  readonly elf: string | undefined;
  /** Directories of its source files. */
  readonly sources: readonly string[];
  /** 0: any that is free. */
  readonly port: number;
  readonly wantsBrowser: boolean;
  /** Everybody on this machine may look. */
  readonly isShared: boolean;
}

/** @throws UscopeError CLI_USAGE, READER_*, FORMAT_*, CONVERT_*, VIEW_PORT */
export async function viewSeveral({
  files,
  elf,
  sources,
  port,
  wantsBrowser,
  isShared,
  keeps,
  from,
}: ViewSeveralRequest): Promise<void> {
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const names = distinctNames(files);
  const opened: { close(): Promise<void> }[] = [];
  try {
    const program = elf === undefined ? null : await openProgram(elf, sources);
    const traces: OpenTrace[] = [];
    for (const [index, file] of files.entries())
      traces.push(await openOne(file, names[index], { keeps, from }, interruption.signal, opened));
    const [a, b, ...more] = traces;
    const options = { port, program, isShared };
    const server =
      more.length === 0 ? await serveComparison(a, b, options) : await serveTogether(traces, options);
    const name = names.join(more.length === 0 ? ' and ' : ', ');
    await announce({ name, wantsBrowser, isShared }, server);
    await raised(interruption.signal);
    await server.close();
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    io.err('uscope: interrupted before all traces were converted');
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    for (const one of opened) await one.close();
  }
}

/** A trace of another format is converted first. @param opened gets what must be closed in the end */
async function openOne(
  file: string,
  name: string,
  { keeps, from }: ConversionWishes,
  signal: AbortSignal,
  opened: { close(): Promise<void> }[],
): Promise<OpenTrace> {
  if (!isHttpUrl(file) && (await isDirectory(file)))
    throw new UscopeError(
      'CLI_USAGE',
      `${file} is a directory; several traces are shown file by file: name trace files`,
    );
  const format = await foreignFormatOf(file, from);
  if (format !== null) {
    const conversion = new Conversion(file, format, name, keeps);
    opened.push(conversion);
    await conversion.run(signal);
    return conversion.trace()!;
  }
  const trace = await openToServe(file, { name });
  opened.push(trace);
  return trace;
}

const isDirectory = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isDirectory(),
    () => false, // the code that opens it says why it cannot
  );

/** As much of the end of each path as tells them apart. */
export function distinctNames(files: readonly string[]): string[] {
  const paths = files.map(partsOf);
  for (let count = 1; count <= maxOf(paths.map(({ length }) => length)); count++) {
    const names = paths.map((parts) => parts.slice(-count).join('/'));
    if (new Set(names).size === names.length) return names;
  }
  return files.map((file) => basename(file));
}

function partsOf(file: string): string[] {
  const path = isHttpUrl(file) ? decodeURIComponent(new URL(file).pathname) : file;
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
