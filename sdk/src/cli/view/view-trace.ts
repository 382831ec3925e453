/** `uscope view FILE` and `uscope view DIR`: serves the page until Ctrl-C. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isUscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { type ServedProgram, serveView } from '../../view/index.js';
import { foreignFormatOf } from '../common/foreign.js';
import { io } from '../common/io.js';
import { shownName } from '../common/trace-file.js';
import { servedSql } from '../leaf-uses.js';
import { announce, raised } from './announce.js';
import { Conversion, type ConversionWishes } from './conversion.js';
import { openProgram, openToServe } from './open.js';
import { viewDirectory } from './view-directory.js';

export interface ViewRequest extends ConversionWishes {
  readonly file: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Of the page's address, with `#`. */
  readonly hash: string;
  readonly wantsBrowser: boolean;
  /** The page commands nothing, and asks nothing in SQL. */
  readonly isReadOnly: boolean;
  /** Everybody on this machine may look; the page then is read-only, too. */
  readonly isShared: boolean;
  /** Path of the program that ran; null: none was given. */
  readonly elf: string | null;
  /** Directories of its source files. */
  readonly sources: readonly string[];
}

/** A page that shows the conversion has this long to fetch what went wrong before the server is gone. */
const FAREWELL_MS = 1500;

/** @throws UscopeError READER_*, FORMAT_*, CONVERT_*, VIEW_PORT */
export async function viewTrace(request: ViewRequest): Promise<void> {
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const program = request.elf === null ? null : await openProgram(request.elf, request.sources);
    if (await isDirectory(request.file)) {
      return await viewDirectory({ ...request, directory: request.file, program }, interruption.signal);
    }
    const format = await foreignFormatOf(request.file, request.from);
    if (format === null) await viewAsItIs(request, program, interruption.signal);
    else {
      const conversion = new Conversion(request.file, format, nameOf(request.file), request.keeps);
      await viewConverted(request, program, conversion, interruption.signal);
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function viewAsItIs(
  request: ViewRequest,
  program: ServedProgram | null,
  signal: AbortSignal,
): Promise<void> {
  const trace = await openToServe(request.file);
  try {
    await withServer(
      request,
      program,
      trace,
      () => trace.whereNow(),
      () => raised(signal),
    );
  } finally {
    await trace.close();
  }
}

async function viewConverted(
  request: ViewRequest,
  program: ServedProgram | null,
  conversion: Conversion,
  signal: AbortSignal,
): Promise<void> {
  const converted = async (): Promise<void> => {
    try {
      await conversion.run(signal);
      await raised(signal);
    } catch (error) {
      if (signal.aborted) return io.err(`uscope: interrupted; ${shownName(request.file)} is not converted`);
      await Promise.race([raised(signal), new Promise((resolve) => setTimeout(resolve, FAREWELL_MS))]);
      throw isUscopeError(error) ? error.at({ file: shownName(request.file) }) : error;
    }
  };
  try {
    const whereNow = async () => (await conversion.trace()?.whereNow()) ?? null;
    await withServer(request, program, conversion, whereNow, converted);
  } finally {
    await conversion.close();
  }
}

/** @param whereNow path of the trace that SQL is about; null: it is not there yet */
async function withServer(
  request: ViewRequest,
  program: ServedProgram | null,
  subject: Parameters<typeof serveView>[0],
  whereNow: () => Promise<string | null>,
  use: () => Promise<void>,
): Promise<void> {
  const { port, isReadOnly, isShared } = request;
  const ServedSql = isReadOnly || isShared ? null : await servedSql();
  const answerer = ServedSql && new ServedSql(whereNow, program?.functions);
  const server = await serveView(subject, {
    port,
    program,
    isShared,
    sql: answerer,
  });
  try {
    await announce({ ...request, name: shownName(request.file) }, server);
    await use();
  } finally {
    await server.close();
    await answerer?.close();
  }
}

async function isDirectory(file: string): Promise<boolean> {
  if (isHttpUrl(file)) return false;
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false, // the code that opens it says why it cannot
  );
}

function nameOf(file: string): string {
  return isHttpUrl(file)
    ? decodeURIComponent(new URL(file).pathname.split('/').at(-1) || 'trace')
    : basename(file);
}
