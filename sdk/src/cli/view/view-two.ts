/** `uscope view A B`: two runs beside each other, until Ctrl-C. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { openTraceFile } from '../../reader/node.js';
import { type OpenTrace, openServedTrace, serveComparison } from '../../view/index.js';
import { io } from '../common/io.js';
import { announce, raised } from './announce.js';
import { Conversion } from './conversion.js';
import { foreignFormatOf } from './foreign-format.js';

export interface ViewTwoRequest {
  readonly a: string;
  readonly b: string;
  /** Path of the program's ELF file. */
  readonly elf: string | undefined;
  /** 0: any that is free. */
  readonly port: number;
  readonly wantsBrowser: boolean;
  /** Converted traces are kept for the next time. */
  readonly keeps: boolean;
}

/** @throws UscopeError CLI_USAGE, READER_*, FORMAT_*, CONVERT_*, VIEW_PORT */
export async function viewTwo({ a, b, elf, port, wantsBrowser, keeps }: ViewTwoRequest): Promise<void> {
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [nameA, nameB] = distinctNames(a, b);
  const opened: { close(): Promise<void> }[] = [];
  try {
    const open = (file: string, name: string) => openOne(file, name, keeps, interruption.signal, opened);
    const [traceA, traceB] = [await open(a, nameA), await open(b, nameB)];
    const server = await serveComparison(traceA, traceB, { port, elf });
    await announce({ name: `${nameA} and ${nameB}`, hash: '', wantsBrowser }, server);
    await raised(interruption.signal);
    await server.close();
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    io.err('uscope: interrupted before both traces were converted');
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    for (const one of opened) await one.close();
  }
}

/** A trace of another format is converted first. @param opened gets what must be closed in the end */
async function openOne(
  file: string,
  name: string,
  keeps: boolean,
  signal: AbortSignal,
  opened: { close(): Promise<void> }[],
): Promise<OpenTrace> {
  if (!isHttpUrl(file) && (await isDirectory(file)))
    throw new UscopeError(
      'CLI_USAGE',
      `${file} is a directory; two runs are compared trace by trace: name two trace files`,
    );
  const format = await foreignFormatOf(file);
  if (format !== null) {
    const conversion = new Conversion(file, format, name, keeps);
    opened.push(conversion);
    await conversion.run(signal);
    return conversion.trace()!;
  }
  // What is no trace is reported here rather than in the page.
  await (await openTraceFile(file)).close();
  const trace = await openServedTrace(file, name);
  opened.push(trace);
  return trace;
}

const isDirectory = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isDirectory(),
    () => false, // the code that opens it says why it cannot
  );

/** As much of the end of each path as tells them apart. */
export function distinctNames(a: string, b: string): [a: string, b: string] {
  const [partsA, partsB] = [partsOf(a), partsOf(b)];
  for (let count = 1; count <= Math.max(partsA.length, partsB.length); count++) {
    const names = [partsA, partsB].map((parts) => parts.slice(-count).join('/')) as [string, string];
    if (names[0] !== names[1]) return names;
  }
  return [basename(a), basename(b)];
}

function partsOf(file: string): string[] {
  const path = isHttpUrl(file) ? decodeURIComponent(new URL(file).pathname) : file;
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
