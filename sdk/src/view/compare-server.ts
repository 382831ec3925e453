/** Serves two traces and the page that shows them beside each other, on the loopback, by the rules of `server.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readPage, withTracesNamed } from './page.js';
import { readProgram, sendProgram } from './program.js';
import { PROGRAM_PATH } from './program-paths.js';
import {
  admit,
  READS,
  type ServedTrace,
  sendFile,
  sendTrace,
  startServer,
  type ViewServer,
  type ViewServerOptions,
} from './server.js';

export interface CompareServerOptions extends ViewServerOptions {
  /** Path of the program's ELF file. */
  readonly elf?: string | undefined;
}

/** @throws UscopeError ENV_MISSING (the page is not built), VIEW_PORT (the port is taken), READER_OPEN (the program cannot be read) */
export async function serveComparison(
  a: ServedTrace,
  b: ServedTrace,
  { page, port = 0, elf }: CompareServerOptions = {},
): Promise<ViewServer> {
  const files = comparisonOf(page ?? (await readPage()), a, b, elf !== undefined);
  const program = elf === undefined ? null : await readProgram(elf);
  const traces = new Map([
    [`/${addressOf('a', a)}`, a],
    [`/${addressOf('b', b)}`, b],
  ]);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = admit(request, response, READS);
    if (path === null) return;
    const trace = traces.get(path);
    if (trace) return sendTrace(request, response, (await trace.pinned?.()) ?? trace);
    if (program && path === PROGRAM_PATH) return sendProgram(response, program);
    sendFile(response, files, path === '/' ? 'compare.html' : path.slice(1));
  };
  return startServer(port, answer);
}

/** Its last part is what the viewer calls the trace. */
const addressOf = (side: 'a' | 'b', { name }: ServedTrace): string => `${side}/${encodeURIComponent(name)}`;

function comparisonOf(
  page: ReadonlyMap<string, Uint8Array>,
  a: ServedTrace,
  b: ServedTrace,
  hasProgram: boolean,
): Map<string, Uint8Array> {
  const html = Buffer.from(page.get('compare.html') ?? []).toString('utf8');
  const named = withTracesNamed(
    html,
    { address: addressOf('a', a), name: a.name },
    { address: addressOf('b', b), name: b.name },
    hasProgram ? PROGRAM_PATH.slice(1) : null,
  );
  return new Map(page).set('compare.html', Buffer.from(named));
}
