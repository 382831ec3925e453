/** `uscope view FILE`: serves the page until Ctrl-C. */
import { hostname, userInfo } from 'node:os';
import { basename } from 'node:path';
import { isUscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { openTraceFile } from '../../reader/node.js';
import { openBrowser, openServedTrace, serveView, type ViewServer } from '../../view/index.js';
import { io } from '../common/io.js';
import { shownName } from '../common/trace-file.js';
import { Conversion } from './conversion.js';
import { foreignFormatOf } from './foreign-format.js';

export interface ViewRequest {
  readonly file: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Of the page's address, with `#`. */
  readonly hash: string;
  readonly wantsBrowser: boolean;
  /** Converted traces are kept for the next time. */
  readonly keeps: boolean;
}

/** A page that shows the conversion has this long to fetch what went wrong before the server is gone. */
const FAREWELL_MS = 1500;

/** @throws UscopeError READER_*, FORMAT_*, CONVERT_*, VIEW_PORT */
export async function viewTrace(request: ViewRequest): Promise<void> {
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const format = await foreignFormatOf(request.file);
    if (format === null) await viewAsItIs(request, interruption.signal);
    else {
      const conversion = new Conversion(request.file, format, nameOf(request.file), request.keeps);
      await viewConverted(request, conversion, interruption.signal);
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function viewAsItIs(request: ViewRequest, signal: AbortSignal): Promise<void> {
  const trace = await openServedTrace(request.file);
  try {
    // What is no trace is reported here rather than in the page.
    await (await openTraceFile(request.file)).close();
    const server = await serveView(trace, { port: request.port });
    await announce(request, server);
    await raised(signal);
    await server.close();
  } finally {
    await trace.close();
  }
}

async function viewConverted(
  request: ViewRequest,
  conversion: Conversion,
  signal: AbortSignal,
): Promise<void> {
  const server = await serveView(conversion, { port: request.port });
  try {
    await announce(request, server);
    await conversion.run(signal);
    await raised(signal);
  } catch (error) {
    if (signal.aborted) return io.err(`uscope: interrupted; ${shownName(request.file)} is not converted`);
    await Promise.race([raised(signal), new Promise((resolve) => setTimeout(resolve, FAREWELL_MS))]);
    throw isUscopeError(error) ? error.at({ file: shownName(request.file) }) : error;
  } finally {
    await server.close();
    await conversion.close();
  }
}

async function announce({ file, hash, wantsBrowser }: ViewRequest, { url, port }: ViewServer): Promise<void> {
  io.out(`${url}${hash}\n`);
  io.flush();
  io.err(`uscope: showing ${shownName(file)}; Ctrl-C ends`);
  io.err(
    `uscope: from another machine: ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}`,
  );
  // A browser that takes long to start must not hold up a conversion.
  if (wantsBrowser) void openBrowser(url + hash);
}

function raised(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function nameOf(file: string): string {
  return isHttpUrl(file)
    ? decodeURIComponent(new URL(file).pathname.split('/').at(-1) || 'trace')
    : basename(file);
}
