/** Serves several traces and a page that shows them together, on the loopback, by the rules of `server.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { READS } from './access.js';
import {
  PROGRAM_PATH,
  PROGRAM_PLACES,
  readPage,
  withAllNamed,
  withProgramNamed,
  withTracesNamed,
} from './page.js';
import {
  type ProgramSource,
  pathOf,
  type ServedTrace,
  sendFile,
  sendTrace,
  startServer,
  type ViewServer,
  type ViewServerOptions,
} from './server.js';

/**
 * Two runs beside each other.
 * @throws UscopeError ENV_MISSING (the page is not built), VIEW_PORT (the port is taken)
 */
export async function serveComparison(
  a: ServedTrace,
  b: ServedTrace,
  options: ViewServerOptions = {},
): Promise<ViewServer> {
  const { page, program = null } = options;
  const traces = addressed([a, b]);
  const [partA, partB] = [...traces].map(([address, { name }]) => ({ address, name }));
  const files = page ?? (await readPage());
  const named = withTracesNamed(
    textOf(files, 'compare.html'),
    partA!,
    partB!,
    program === null ? null : PROGRAM_PATH.slice(1),
  );
  return serve({ files, start: 'compare.html', named, traces, program, options });
}

/** The traces of one run on one time axis; instructions of all cores are those of the program. @throws UscopeError ENV_MISSING, VIEW_PORT */
export async function serveTogether(
  list: readonly ServedTrace[],
  options: ViewServerOptions = {},
): Promise<ViewServer> {
  const { page, program = null } = options;
  const traces = addressed(list);
  const files = new Map(page ?? (await readPage()));
  // Each lane is a frame with the page of one trace, which reads the program by itself.
  if (program)
    files.set('index.html', Buffer.from(withProgramNamed(textOf(files, 'index.html'), PROGRAM_PLACES)));
  const named = withAllNamed(textOf(files, 'together.html'), [...traces.keys()], program && PROGRAM_PLACES);
  return serve({ files, start: 'together.html', named, traces, program, options });
}

/** By address relative to the page. Its last part is what the viewer calls the trace. */
const addressed = (list: readonly ServedTrace[]): Map<string, ServedTrace> =>
  new Map(list.map((trace, index) => [`${index}/${encodeURIComponent(trace.name)}`, trace]));

const textOf = (files: ReadonlyMap<string, Uint8Array>, name: string): string =>
  Buffer.from(files.get(name) ?? []).toString('utf8');

interface Site {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The page that `/` is, and its text with the names of the traces. */
  readonly start: string;
  readonly named: string;
  readonly traces: ReadonlyMap<string, ServedTrace>;
  readonly program: ProgramSource | null;
  readonly options: ViewServerOptions;
}

function serve({ files, start, named, traces, program, options }: Site): Promise<ViewServer> {
  const all = new Map(files).set(start, Buffer.from(named));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request, response, READS);
    if (path === null) return;
    const trace = traces.get(path.slice(1));
    if (trace) return sendTrace(request, response, (await trace.pinned?.()) ?? trace);
    if (program && (await program.answer(path, request, response))) return;
    sendFile(response, all, path === '/' ? start : path.slice(1));
  };
  return startServer(options, answer);
}
