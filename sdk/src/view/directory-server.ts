/**
 * Serves a directory of traces on the loopback: a page that lists them as they appear, the viewer for each, and what `uscope ctl` does. A trace is
 * looked up by its name in the list; no path of a request reaches the file system.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUscopeError } from '../base/errors.js';
import { READS } from './access.js';
import { readPage, withControlNamed } from './page.js';
import { bodyOf, refuse, sendJson } from './replies.js';
import type { OpenTrace } from './served-trace.js';
import {
  answerForTrace,
  type ProgramSource,
  pageOf,
  pathOf,
  sendFile,
  startServer,
  TRACE_PATH,
  type ViewServer,
  type ViewServerOptions,
} from './server.js';
import { answerSql, SQL_PATH, type SqlAnswerer } from './sql-requests.js';

/** As in `uscope ctl`. */
export interface ViewCommand {
  readonly action: 'pause' | 'resume' | 'disable' | 'enable' | 'trigger';
  /** null: all traces. */
  readonly trace: string | null;
  /** Of `disable` and `enable`: a scope; of `trigger`: a label. */
  readonly operand: string | null;
}

export interface ViewedDirectory {
  /** Plain values for the page. */
  list(): Promise<unknown>;
  /** null: the list has no trace of this name. */
  open(name: string): Promise<OpenTrace | null>;
  /** What the daemon that writes a trace says of it now: plain values for the page. */
  recording?(name: string): Promise<unknown>;
  /** A trace of it is being looked at: called with every read, and to return at once. */
  looking?(): void;
  /** Answers SQL about a trace that `open` has opened; without it nobody asks. */
  sql?(trace: OpenTrace): SqlAnswerer | null;
  /** Without it nobody commands. @returns plain values for the page */
  control?(command: ViewCommand): Promise<unknown>;
}

const TRACES = '/traces/';
const LIST_PAGE = 'runs.html';
const LIST_PATH = '/runs.json';
const RECORDING_PATH = '/recording.json';
const CONTROL_PATH = '/control';
const ACTIONS: readonly string[] = ['pause', 'resume', 'disable', 'enable', 'trigger'];
/** Asked for by every page once a second: they share an answer. */
const LIST_MS = 500;
const MAX_COMMAND_BYTES = 4096;
const MAX_TEXT = 256;

interface Site {
  readonly trace: OpenTrace;
  /** null: it is not asked in SQL. */
  readonly sql: SqlAnswerer | null;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** @throws UscopeError ENV_MISSING (the page is not built), VIEW_PORT */
export async function serveDirectory(
  directory: ViewedDirectory,
  options: ViewServerOptions = {},
): Promise<ViewServer> {
  const page = new Map(options.page ?? (await readPage()));
  const list = Buffer.from(page.get(LIST_PAGE) ?? []).toString('utf8');
  if (directory.control) page.set(LIST_PAGE, Buffer.from(withControlNamed(list, CONTROL_PATH.slice(1))));
  const sites = new DirectorySites(directory, page, options.program ?? null);
  const server = await startServer(options, (request, response) => sites.answer(request, response));
  return {
    ...server,
    close: async () => {
      await server.close();
      await sites.close();
    },
  };
}

class DirectorySites {
  private readonly open = new Map<string, Promise<Site | null>>();
  private listed: Promise<unknown> | null = null;
  private listedAt = 0;

  constructor(
    private readonly directory: ViewedDirectory,
    private readonly page: ReadonlyMap<string, Uint8Array>,
    private readonly program: ProgramSource | null,
  ) {}

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isCommand = request.url === CONTROL_PATH;
    const isQuestion = request.url?.startsWith(TRACES) && request.url.endsWith(SQL_PATH);
    const path = pathOf(request, response, isCommand || isQuestion ? ['POST'] : READS);
    if (path === null) return;
    if (isCommand) return this.command(request, response);
    if (path === LIST_PATH) return sendJson(response, await this.list());
    if (path.startsWith(TRACES)) return this.trace(path.slice(TRACES.length), request, response);
    sendFile(response, this.page, path === '/' ? LIST_PAGE : path.slice(1));
  }

  async close(): Promise<void> {
    for (const opening of this.open.values()) {
      const site = await opening.catch(() => null);
      await site?.trace.close();
      await site?.sql?.close();
    }
  }

  private list(): Promise<unknown> {
    const now = performance.now();
    if (!this.listed || now - this.listedAt >= LIST_MS) {
      this.listedAt = now;
      this.listed = this.directory.list();
    }
    return this.listed;
  }

  private async trace(rest: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const slash = rest.indexOf('/');
    const name = decoded(slash < 0 ? rest : rest.slice(0, slash));
    let site: Site | null = null;
    try {
      if (name !== null) site = await this.site(name);
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      return refuse(response, 404, error.message);
    }
    if (!site) return refuse(response, 404, 'there is no such trace');
    if (rest.endsWith(TRACE_PATH)) this.directory.looking?.();
    if (slash >= 0 && rest.slice(slash) === RECORDING_PATH)
      return sendJson(response, (await this.directory.recording?.(name!)) ?? null);
    if (slash >= 0 && rest.slice(slash) === SQL_PATH && site.sql)
      return answerSql(request, response, site.sql);
    if (slash >= 0)
      return answerForTrace(rest.slice(slash), request, response, site.files, site.trace, this.program);
    // Addresses in the page are relative to it.
    response.writeHead(308, { location: `${encodeURIComponent(name!)}/` }).end();
  }

  private async site(name: string): Promise<Site | null> {
    const known = this.open.get(name);
    if (known) return known;
    const opening = this.opened(name);
    this.open.set(name, opening);
    try {
      const site = await opening;
      if (!site) this.open.delete(name); // it may be there later
      return site;
    } catch (error) {
      this.open.delete(name);
      throw error;
    }
  }

  private async opened(name: string): Promise<Site | null> {
    const { directory, page, program } = this;
    const trace = await directory.open(name);
    if (!trace) return null;
    const sql = directory.sql?.(trace) ?? null;
    const [recording, control] = [RECORDING_PATH.slice(1), directory.control ? `../..${CONTROL_PATH}` : null];
    return { trace, sql, files: pageOf(page, trace, { recording, control, program, hasSql: sql !== null }) };
  }

  private async command(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.directory.control) return refuse(response, 403, 'this page only shows, and commands nothing');
    const command = commandOf(await bodyOf(request, MAX_COMMAND_BYTES));
    if (!command) return refuse(response, 400, 'this is not a command');
    try {
      sendJson(response, await this.directory.control(command));
    } catch (error) {
      refuse(response, 502, (error as Error).message);
    }
  }
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function commandOf(body: string | null): ViewCommand | null {
  try {
    const { action, trace = null, operand = null } = JSON.parse(body ?? '') as Record<string, unknown>;
    const isText = (value: unknown): boolean =>
      value === null || (typeof value === 'string' && value.length <= MAX_TEXT);
    if (typeof action !== 'string' || !ACTIONS.includes(action) || !isText(trace) || !isText(operand))
      return null;
    if ((action === 'enable' || action === 'disable') && !operand) return null;
    return { action, trace, operand } as ViewCommand;
  } catch {
    return null;
  }
}
