/** Serves two traces and the page that shows them beside each other, on the loopback, by the rules of `server.ts`. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { UscopeError } from '../base/errors.js';
import { readPage, withTracesNamed } from './page.js';
import {
  admit,
  READS,
  refuse,
  type ServedTrace,
  sendFile,
  sendTrace,
  startServer,
  type ViewServer,
  type ViewServerOptions,
} from './server.js';

const PROGRAM = 'program.elf';

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
    if (path === `/${PROGRAM}`) return sendProgram(response, program);
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
    hasProgram ? PROGRAM : null,
  );
  return new Map(page).set('compare.html', Buffer.from(named));
}

async function readProgram(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UscopeError('READER_OPEN', (error as Error).message, { file: path }, { cause: error });
  }
}

function sendProgram(response: ServerResponse, program: Uint8Array | null): void {
  if (!program) {
    refuse(response, 404, 'no program was given');
    return;
  }
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': program.byteLength,
    'cache-control': 'no-cache',
  });
  response.end(response.req.method === 'HEAD' ? undefined : program);
}
