/**
 * Serves the viewer's page and one trace on the loopback. Nothing else can be asked for: paths are looked up in a table, never joined to a
 * directory. Requests that name another host are refused, so that no page of another site reaches the trace by a name that it points here;
 * so are those of browsers that were not let in (`access.ts`).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UscopeError } from '../../../base/errors.js';
import { GROWN_HEADER, GROWN_TYPE, MARK_HEADER, WRITER_HEADER } from '../../../reader/followed-source.js';
import { Access, READS } from './access.js';
import { PAGE_FILES, PROGRAM_PLACES, readPage, withTraceNamed } from './page.js';
import { parseRange, refuse, sendJson } from './replies.js';
import { answerSql, SQL_PATH, type SqlAnswerer } from './sql-requests.js';

/** The bytes served as the trace. */
export interface ServedTrace {
  /** Shown by the page. */
  readonly name: string;
  size(): Promise<number>;
  /** At most 1 MiB at a time is asked for. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** Another text means another version of the file. */
  version(): Promise<string>;
  /** Nobody writes the file any more: where it is not finalized, it never will be. */
  isAbandoned?(): Promise<boolean>;
  /** Another text after each commit: a reader that follows the file need not read it to see that there is nothing new. */
  mark?(): Promise<string>;
  /** What a reader that follows the file is going to ask for; null: it has to ask for it. `reader/growing-file.ts` */
  grown?(knownTail: number | 'latest'): Promise<readonly Uint8Array[] | null>;
  /** The file as it is now, for one answer: what has the same name later does not get into it. */
  pinned?(): Promise<ServedTrace>;
}

/** What the page asks for until the trace is there. */
export type OpeningStatus =
  /** `part` is done, 0 to 1. */
  | { readonly state: 'converting'; readonly format: string; readonly part: number }
  /** `isCut`: the file ended early; what precedes its end is shown. */
  | { readonly state: 'ready'; readonly isCut: boolean }
  | { readonly state: 'failed'; readonly code: string; readonly what: string };

/** A trace that is being made while the page is already open: a file of another format, converted. */
export interface Opening {
  /** Shown by the page. */
  readonly name: string;
  status(): OpeningStatus;
  /** null: not there yet, or never. */
  trace(): ServedTrace | null;
}

const isOpening = (subject: ServedTrace | Opening): subject is Opening => 'status' in subject;

/** The program that ran: `program.ts`. */
export interface ProgramSource {
  /** @param path of the request, below that of the page. @returns false: it is none of a program */
  answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

export interface ViewServerOptions {
  /** 0: any that is free. */
  readonly port?: number | undefined;
  /** Instead of the page of the package. */
  readonly page?: ReadonlyMap<string, Uint8Array> | undefined;
  /** What the core ran. */
  readonly program?: ProgramSource | null | undefined;
  /** Every user of the machine may look; nobody commands or asks in SQL. */
  readonly isShared?: boolean | undefined;
}

export interface TraceServerOptions extends ViewServerOptions {
  /** Who answers SQL about the trace; null: nobody. */
  readonly sql?: SqlAnswerer | null | undefined;
}

export interface ViewServer {
  readonly port: number;
  /** Of the page, for a browser that is in. */
  readonly url: string;
  /** An address that lets one browser in. @param place where it leads: what follows the address of the page, `#` or `?` first */
  invite(place?: string): string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
export const TRACE_PATH = '/trace.uscope';
export const STATUS_PATH = '/status.json';
const PART_BYTES = 1024 * 1024;
/** 'wasm-unsafe-eval' lets the reader compile only its own WebAssembly. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  // The page of two runs holds two viewers of the same server.
  "frame-src 'self'",
  "frame-ancestors 'self'",
].join('; ');
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * @param subject a trace, or one that is being made: the page then shows how far it is
 * @throws UscopeError ENV_MISSING (the page is not built), VIEW_PORT (the port is taken)
 */
export async function serveView(
  subject: ServedTrace | Opening,
  options: TraceServerOptions = {},
): Promise<ViewServer> {
  const { program = null, sql = null } = options;
  const page = options.page ?? (await readPage());
  const files = pageOf(page, subject, { program, hasSql: sql !== null });
  return startServer(options, async (request, response) => {
    const isQuestion = request.url === SQL_PATH && sql !== null;
    const path = pathOf(request, response, isQuestion ? ['POST'] : READS);
    if (path !== null && isQuestion) await answerSql(request, response, sql);
    else if (path !== null) await answerForTrace(path, request, response, files, subject, program);
  });
}

/** What the page of a trace may ask in addition. */
export interface PageSources {
  /** Where it asks what the trace's daemon says. */
  readonly recording?: string | null;
  /** Where it sends commands to that daemon. */
  readonly control?: string | null;
  readonly program?: ProgramSource | null;
  /** It may ask in SQL. */
  readonly hasSql?: boolean;
}

/** The files of the page, which names the trace. */
export function pageOf(
  page: ReadonlyMap<string, Uint8Array>,
  subject: ServedTrace | Opening,
  { recording = null, control = null, program = null, hasSql = false }: PageSources = {},
): Map<string, Uint8Array> {
  const files = new Map(page);
  const html = Buffer.from(files.get('index.html') ?? []).toString('utf8');
  const places = {
    address: TRACE_PATH.slice(1),
    status: isOpening(subject) ? STATUS_PATH.slice(1) : null,
    recording,
    control,
    sql: hasSql ? SQL_PATH.slice(1) : null,
    program: program && PROGRAM_PLACES,
  };
  files.set('index.html', Buffer.from(withTraceNamed(html, subject.name, places)));
  return files;
}

/** @param answer gets the requests that are admitted, with paths below the page's. @throws UscopeError VIEW_PORT */
export async function startServer(
  { port: wantedPort = 0, isShared = false }: ViewServerOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<ViewServer> {
  const access = isShared ? null : new Access();
  const server = createServer((request, response) => {
    if (isAdmitted(request, response, access))
      answer(request, response).catch((error: Error) => fail(response, error));
  });
  const port = await listen(server, wantedPort);
  const origin = `http://${LOOPBACK}:${port}`;
  const url = origin + (access?.root ?? '/');
  return {
    port,
    url,
    invite: (place = '') => (access ? origin + access.invite(place) : url + place),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new UscopeError(
          'VIEW_PORT',
          `port ${port} cannot be used (${error.code ?? error.message}); choose another one with --port, or leave it out`,
          {},
          { cause: error },
        ),
      ),
    );
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port));
  });
}

/** What holds for every answer. @param access null: everybody may look. @returns false: it is refused already */
function isAdmitted(request: IncomingMessage, response: ServerResponse, access: Access | null): boolean {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (!isOwnHost(request.headers.host)) {
    refuse(response, 421, 'this server answers for the loopback only');
    return false;
  }
  return access ? access.admits(request, response) : isMethod(request, response, READS);
}

function isMethod(
  { method = '' }: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): boolean {
  if (methods.includes(method)) return true;
  response.setHeader('allow', methods.join(', '));
  refuse(response, 405, `only ${methods.join(' and ')}`);
  return false;
}

/** @returns the path asked for; null: another method is refused already */
export function pathOf(
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): string | null {
  return isMethod(request, response, methods) ? ((request.url ?? '/').split('?', 1)[0] ?? '/') : null;
}

export async function answerForTrace(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  files: ReadonlyMap<string, Uint8Array>,
  subject: ServedTrace | Opening,
  program: ProgramSource | null = null,
): Promise<void> {
  if (path === TRACE_PATH) {
    const trace = isOpening(subject) ? subject.trace() : subject;
    if (trace) return sendTrace(request, response, (await trace.pinned?.()) ?? trace);
    response.setHeader('retry-after', '1');
    return refuse(response, 503, 'the trace is not converted yet');
  }
  if (path === STATUS_PATH && isOpening(subject)) return sendStatus(response, subject.status());
  if (await program?.answer(path, request, response)) return;
  sendFile(response, files, path === '/' ? 'index.html' : path.slice(1));
}

export function sendFile(
  response: ServerResponse,
  files: ReadonlyMap<string, Uint8Array>,
  name: string,
): void {
  const bytes = files.get(name);
  const type = PAGE_FILES.get(name);
  if (!bytes || !type) {
    refuse(response, 404, 'there is no such file');
    return;
  }
  response.writeHead(200, {
    'content-type': type,
    'content-length': bytes.byteLength,
    'cache-control': 'no-cache',
  });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}

const sendStatus = (response: ServerResponse, status: OpeningStatus): void => sendJson(response, status);

/** Names of this machine alone; through an ssh tunnel the port is another one. */
function isOwnHost(host: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i.test(host ?? '');
}

export async function sendTrace(
  request: IncomingMessage,
  response: ServerResponse,
  trace: ServedTrace,
): Promise<void> {
  const [size, version] = [await trace.size(), await trace.version()];
  const etag = `"${version}"`;
  if ((await trace.isAbandoned?.()) === true) response.setHeader(WRITER_HEADER, 'gone');
  const mark = await trace.mark?.();
  if (mark !== undefined) response.setHeader(MARK_HEADER, mark);
  response.setHeader('etag', etag);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('content-type', 'application/octet-stream');
  response.setHeader('cache-control', 'no-cache');
  if (await sendGrown(request, response, trace, mark)) return;
  const ifRange = request.headers['if-range'];
  const isCurrent = ifRange === undefined || ifRange === etag;
  const range = isCurrent ? parseRange(request.headers.range, size) : 'all';
  if (range === 'all' && request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
  if (range === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${size}`);
    return refuse(response, 416, 'the range begins after the end of the file');
  }
  const { start, end } = range === 'all' ? { start: 0, end: size - 1 } : range;
  if (range !== 'all') response.setHeader('content-range', `bytes ${start}-${end}/${size}`);
  response.writeHead(range === 'all' ? 200 : 206, { 'content-length': end - start + 1 });
  if (request.method === 'HEAD') return void response.end();
  await sendBytes(response, trace, start, end);
}

/** @returns false: the request is an ordinary one, or has to be answered as one */
async function sendGrown(
  { headers }: IncomingMessage,
  response: ServerResponse,
  trace: ServedTrace,
  mark: string | undefined,
): Promise<boolean> {
  const known = headers[GROWN_HEADER];
  if (known === undefined) return false;
  if (mark !== undefined && headers[MARK_HEADER] === mark) {
    response.writeHead(204).end();
    return true;
  }
  const grown = /^(latest|\d{1,15})$/.test(String(known))
    ? await trace.grown?.(known === 'latest' ? known : Number(known))
    : null;
  if (!grown) return false;
  const length = grown.reduce((sum, { byteLength }) => sum + byteLength, 0);
  response.writeHead(200, { 'content-type': GROWN_TYPE, 'content-length': length });
  // All of it goes to the system with one call. The same bytes go to every reader.
  response.cork();
  for (const bytes of grown) response.write(bytes);
  response.end();
  return true;
}

/** Piece by piece, no faster than the browser takes them. */
async function sendBytes(
  response: ServerResponse,
  trace: ServedTrace,
  start: number,
  end: number,
): Promise<void> {
  for (let offset = start; offset <= end; ) {
    const bytes = await trace.read(offset, Math.min(PART_BYTES, end - offset + 1));
    // A file that has become shorter: the browser sees that the answer is cut.
    if (bytes.byteLength === 0 || response.destroyed) return void response.destroy();
    offset += bytes.byteLength;
    // The last piece and the end in one: most answers are small, and take one write.
    if (offset > end) return void response.end(bytes);
    if (!response.write(bytes)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** The trace cannot be read any more. */
function fail(response: ServerResponse, error: Error): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 500, error.message);
}
