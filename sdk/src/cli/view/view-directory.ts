/** `uscope view DIR`: the traces of a directory as they appear, each with its picture, and what `uscope ctl` does. */
import { resolve } from 'node:path';
import {
  type OpenTrace,
  type ServedProgram,
  type SqlAnswerer,
  serveDirectory,
  type ViewCommand,
  type ViewedDirectory,
  type ViewServer,
} from '../../view/index.js';
import { headerPath, spoolDirectory } from '../../writer/ring/index.js';
import type { ServedSqlClass } from '../common/leaf.js';
import { servedSql } from '../leaf-uses.js';
import { type ListedRun, listRuns } from '../runs/listing.js';
import { type Announcement, announce, raised } from './announce.js';
import { Daemons, type Recording } from './daemons.js';
import { openToServe } from './open.js';
import { ringOf } from './ring-state.js';

export interface DirectoryRequest {
  readonly directory: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly wantsBrowser: boolean;
  /** The page shows, and commands nothing. */
  readonly isReadOnly?: boolean;
  /** Everybody on this machine may look; the page then is read-only, too. */
  readonly isShared?: boolean;
  /** What the cores ran. */
  readonly program?: ServedProgram | null;
}

/** Until the signal is raised. @throws UscopeError VIEW_PORT */
export async function viewDirectory(request: DirectoryRequest, signal: AbortSignal): Promise<void> {
  const server = await startDirectoryView(request);
  try {
    await raised(signal);
  } finally {
    await server.close();
  }
}

/** Serves and announces it. @throws UscopeError VIEW_PORT, ENV_MISSING */
export async function startDirectoryView(
  request: DirectoryRequest,
  announcement: Partial<Announcement> = {},
): Promise<ViewServer> {
  const { directory, port, wantsBrowser, isReadOnly = false, isShared = false, program = null } = request;
  const mayOnlyLook = isReadOnly || isShared;
  const viewed = mayOnlyLook
    ? new Directory(directory)
    : new CommandedDirectory(directory, program, await servedSql());
  const server = await serveDirectory(viewed, { port, program, isShared });
  await announce({ name: directory, wantsBrowser, isShared, ...announcement }, server);
  return server;
}

class Directory implements ViewedDirectory {
  protected readonly daemons: Daemons;

  constructor(private readonly directory: string) {
    this.daemons = new Daemons(directory);
  }

  looking(): void {
    this.daemons.hasten();
  }

  async list(): Promise<unknown> {
    const { all, trouble } = await this.daemons.recordings();
    const runs = await listRuns(this.directory, () => undefined, { links: false });
    const listed = new Set(runs.flatMap(({ traces }) => traces.map(({ path }) => resolve(path))));
    const rings = await Promise.all(all.filter(({ path }) => !listed.has(path)).map(ringTrace));
    const headers = new Set(all.map(({ path }) => headerPath(spoolDirectory(path))));
    return {
      directory: this.directory,
      trouble,
      rings: rings.filter((one) => one !== null),
      runs: runs.map((run) => shownRun(run, all, headers)).filter(({ traces }) => traces.length > 0),
    };
  }

  async open(name: string): Promise<OpenTrace | null> {
    const path = await this.pathOf(name);
    return path === null ? null : openToServe(path, { followsLinks: false });
  }

  /** Of a trace that a page shows: what its daemon says of it now. */
  async recording(name: string): Promise<unknown> {
    const { all, trouble } = await this.daemons.recordings();
    const path = resolve(this.directory, `${name}.uscope`);
    return { trouble, recording: all.find((one) => one.path === path) ?? null };
  }

  private async pathOf(name: string): Promise<string | null> {
    const runs = await listRuns(this.directory, () => undefined, { links: false });
    return runs.flatMap(({ traces }) => traces).find((trace) => trace.name === name)?.path ?? null;
  }
}

class CommandedDirectory extends Directory {
  constructor(
    directory: string,
    private readonly program: ServedProgram | null,
    private readonly served: ServedSqlClass | null,
  ) {
    super(directory);
  }

  sql(trace: OpenTrace): SqlAnswerer | null {
    return this.served && new this.served(() => trace.whereNow(), this.program?.functions);
  }

  control(command: ViewCommand): Promise<unknown> {
    return this.daemons.command(command);
  }
}

/** @param hidden files of rings that are being recorded: no traces by themselves */
const shownRun = (
  { id, startTimeMs, traces }: ListedRun,
  recordings: readonly Recording[],
  hidden: ReadonlySet<string>,
) => ({
  id,
  startTimeMs,
  traces: traces
    .filter(({ path }) => !hidden.has(resolve(path)))
    .map(({ name, path, state, reason, lastCycle, bytes }) => ({
      ...{ name, state, reason, bytes },
      lastCycle: lastCycle === null ? null : Number(lastCycle),
      recording: recordings.find((one) => one.path === resolve(path)) ?? null,
    })),
});

/** A flight recorder makes its file at the end; until then it is a ring of segments. */
async function ringTrace(recording: Recording) {
  const segments = await ringOf(recording.path);
  return segments && { recording, segments };
}
