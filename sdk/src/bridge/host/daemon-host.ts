/** A process that is a daemon: `uscope serve`, on its own or as the child of `uscope run`. */

import { UscopeError } from '../../base/errors.js';
import { printable } from '../../base/printable.js';
import { formatBytes } from '../../base/units.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import { checkProtocol, findingText, isContradiction } from '../../protocols/index.js';
import {
  accountOf,
  completedIn,
  finishedTrace,
  openNodeOutput,
  type TraceStats,
} from '../../writer/index.js';
import { lockedOutput } from '../../writer/output/locked-output.js';
import type { PathLock } from '../../writer/output/path-lock.js';
import { Daemon, type DaemonOptions } from '../daemon/daemon.js';
import { announceDaemon } from '../daemon/daemon-file.js';
import { runOfEnvironment } from '../daemon/run-identity.js';
import {
  type Failure,
  type HostMessage,
  outliveLog,
  type SupervisorMessage,
  type TraceName,
} from '../report/host-messages.js';
import { lossesOf, traceLines } from '../report/summary.js';
import type { Session } from '../session/session.js';
import { fileSinks, NO_SCHEMA } from '../session/sink.js';
import { optimizeLate } from './optimizer.js';
import { DaemonPriority, DEFAULT_NICE } from './priority.js';
import { type CopyTrace, TraceCopies } from './trace-copies.js';

export interface DaemonHostOptions extends Omit<DaemonOptions, 'events' | 'run'> {
  /** Nice value of the process while it records, 0 to 19. */
  readonly nice?: number | undefined;
  /** Absent: traces that want a copy in another format get none. */
  readonly copy?: CopyTrace | undefined;
}

const PROGRESS_MS = 200;
/** What keeps a process from ending that has done everything, such as a file system that does not answer, does so for this time at most. */
const LATE_END_MS = 3000;
const TROUBLE_LINES = 20;
const TROUBLE_WINDOW_MS = 10_000;

/** Says what happens: lines for people, or messages for a supervisor. */
interface Reporter {
  tell(message: HostMessage): void;
}

/**
 * Runs a daemon until it is asked to end: by SIGTERM or SIGINT (a second one stops waiting for a full disk), or by its supervisor. Then every
 * open trace is finalized. Resolves when that is done: true when no trace has lost or rejected anything.
 * @throws UscopeError BRIDGE_ENDPOINT, WRITER_DIRECTORY, SCHEMA_*
 */
export async function runDaemonHost(options: DaemonHostOptions): Promise<boolean> {
  optimizeLate();
  outliveLog();
  const supervised = process.send !== undefined;
  const losses = new LossWatch(supervised ? supervisorReporter() : lineReporter());
  const copies = new TraceCopies(options.copy, (message) => losses.tell(message));
  const reporter: Reporter = copies;
  const seen = new Set<string>();
  let daemon: Daemon;
  const priority = new DaemonPriority(options.nice ?? DEFAULT_NICE, () =>
    daemon.sessions.some(({ isClosing }) => !isClosing),
  );
  try {
    // A separate daemon is for many runs, whatever its environment says.
    const run = supervised ? runOfEnvironment() : null;
    daemon = await Daemon.start({ ...options, run, events: eventsFor(reporter, seen, priority) });
  } catch (error) {
    if (!supervised) throw error;
    await leave({ type: 'refused', failure: failureOf(error as UscopeError) });
    return false;
  }
  const withdraw = await announceDaemon(
    options.outputDirectory,
    daemon.endpoint,
    options.keys !== undefined,
    (why) => printLine(`note: ${why}`),
  );
  tellBound(options, daemon);
  const end = endSignal(daemon, copies, supervised);
  reporter.tell({ type: 'ready', endpoint: daemon.endpoint });
  const progress = supervised ? setInterval(() => tellProgress(daemon, reporter), PROGRESS_MS) : undefined;
  const unfinished = await end;
  clearInterval(progress);
  priority.restore();
  await daemon.finalize();
  for (const trace of unfinished) {
    if (!seen.has(trace.session)) await recover(trace, options, reporter);
  }
  await copies.settled();
  await daemon.stop();
  withdraw();
  if (supervised) {
    await leave({ type: 'done' });
    endWithoutSupervisor();
  }
  return losses.isWhole;
}

/** A supervisor kills a process that does not end by itself. One that is gone cannot. */
function endWithoutSupervisor(): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LATE_END_MS).unref();
}

/** What was asked for is not what peers get. */
function tellBound({ maxMemoryBytes }: DaemonHostOptions, { memoryBound }: Daemon): void {
  if (maxMemoryBytes === undefined || memoryBound.limit === null) return;
  const [asked, bytes] = [maxMemoryBytes, memoryBound.bytes].map(formatBytes);
  printLine(`note: --max-memory=${asked} is more than ${memoryBound.limit} leaves: traces may take ${bytes}`);
}

/** @param seen gathers the ids of the sessions this daemon has had */
function eventsFor(
  reporter: Reporter,
  seen: Set<string>,
  priority: DaemonPriority,
): NonNullable<DaemonOptions['events']> {
  const warned = new Set<string>();
  return {
    onOpen: (session, schema, resumed) => {
      priority.opened();
      warnOf(schema, warned);
      seen.add(nameOf(session).session);
      const periodPs = schema.clocks[0]?.periodPs ?? 0;
      reporter.tell({
        type: 'opened',
        ...nameOf(session),
        resumed,
        periodPs,
        core: session.init.core ?? null,
      });
    },
    onStall: (session, error) => {
      reporter.tell({
        type: 'stalled',
        session: nameOf(session).session,
        failure: error && failureOf(error),
      });
    },
    onEnd: (session) => {
      const { stats, account, reasons, failure } = session;
      reporter.tell({
        type: 'ended',
        ...nameOf(session),
        stats,
        reasons,
        skipped: session.control.skipped,
        failure: failure && failureOf(failure),
        account,
        keptMemory: session.keptMemory,
      });
    },
    onTrouble: (name, { code, msg }, orphan) => {
      reporter.tell({ type: 'trouble', name, failure: { code, message: `${code}: ${msg}` }, orphan });
    },
  };
}

/** Most warnings of a daemon about schemas: thousands of cores may have one schema. */
const MAX_WARNINGS = 100;

/** A schema that contradicts the protocols that it claims is recorded, and each contradiction said once. */
function warnOf(schema: Schema, warned: Set<string>): void {
  for (const finding of checkProtocol(schema).filter(isContradiction)) {
    const text = findingText(finding);
    if (warned.has(text) || warned.size >= MAX_WARNINGS) continue;
    warned.add(text);
    printLine(`warning: ${text}`);
    if (warned.size === MAX_WARNINGS)
      printLine('warning: further ones about schemas are left out; uscope schema --check FILE prints them');
  }
}

/** Resolves when the daemon shall end, with what else there is to finalize. */
function endSignal(daemon: Daemon, copies: TraceCopies, supervised: boolean): Promise<readonly TraceName[]> {
  return new Promise((resolve) => {
    let asked = false;
    const hurry = (): void => {
      daemon.abortWaiting();
      copies.abort();
    };
    const ask = (unfinished: readonly TraceName[] = []): void => {
      if (asked) hurry();
      asked = true;
      resolve(unfinished);
    };
    process.on('SIGTERM', () => ask());
    process.on('SIGINT', () => ask());
    if (!supervised) return;
    process.on('message', (message: SupervisorMessage) => {
      if (message.type === 'finalize') ask(message.unfinished);
      else hurry();
    });
    // The supervisor was killed: no request will come any more. The event comes once, and may have come while the daemon started.
    process.on('disconnect', () => ask());
    if (!process.connected) ask();
  });
}

function tellProgress(daemon: Daemon, reporter: Reporter): void {
  const traces = daemon.sessions.map((session) => ({
    session: nameOf(session).session,
    stats: session.stats,
  }));
  if (traces.length > 0) reporter.tell({ type: 'progress', traces });
}

/** Finalizes a trace whose client has gone while no daemon was there. */
async function recover(
  trace: TraceName,
  { summarizer, index, sinks = fileSinks }: DaemonHostOptions,
  reporter: Reporter,
): Promise<void> {
  const { path } = trace;
  const sessionId = Buffer.from(trace.session, 'hex');
  const options = { path, schema: NO_SCHEMA, sessionId, summarizer, index };
  const tell = (stats: TraceStats): void => {
    const account = accountOf({ stats, completed: completedIn(stats) });
    reporter.tell({ type: 'ended', ...trace, stats, account, reasons: [], failure: null });
  };
  let lock: PathLock | undefined;
  try {
    lock = await sinks.lock?.(path);
    // Its client had closed it, and the daemon before this one was killed before it could say so.
    const finished = await finishedTrace(options).catch(() => null);
    if (finished) {
      tell(finished);
      return;
    }
    const openOutput = lockedOutput(openNodeOutput, lock);
    const writer = await sinks.resume({ ...options, openOutput });
    if (!writer)
      throw new UscopeError('READER_OPEN', 'the unfinished trace is not there any more', {
        file: trace.path,
      });
    const completed = { frames: writer.nextFrame, isExact: false };
    tell(await writer.close({ status: SessionStatus.RECOVERED, completed }));
  } catch (error) {
    reporter.tell({ type: 'stalled', session: trace.session, failure: failureOf(error as UscopeError) });
  } finally {
    lock?.release();
  }
}

function nameOf(session: Session): TraceName {
  const { id, name } = session.init;
  return { name, path: session.stats.path, session: Buffer.from(id).toString('hex') };
}

function failureOf(error: UscopeError): Failure {
  return { code: error.code ?? 'BRIDGE_INTERNAL', message: error.message };
}

/** Passes messages on, and remembers traces that are not complete. */
class LossWatch implements Reporter {
  /** By session: one that is finished later, after a restart or by recovery, has its last word. */
  private readonly torn = new Set<string>();
  /** What a client left was not finalized, or a copy was not made. */
  private hasFailed = false;

  constructor(private readonly next: Reporter) {}

  get isWhole(): boolean {
    return this.torn.size === 0 && !this.hasFailed;
  }

  tell(message: HostMessage): void {
    this.next.tell(message);
    if (message.type === 'trouble' && message.orphan === 'left') this.hasFailed = true;
    if (message.type === 'uncopied') this.hasFailed = true;
    if (message.type !== 'ended') return;
    if (lossesOf(message).length > 0) this.torn.add(message.session);
    else this.torn.delete(message.session);
  }
}

function supervisorReporter(): Reporter {
  // The supervisor may be gone: then messages are dropped, and the traces are finalized all the same.
  return { tell: (message) => process.connected && process.send?.(message, undefined, {}, () => {}) };
}

/** Sends the last message and closes the channel, so that the process can end. */
async function leave(message: HostMessage): Promise<void> {
  if (!process.connected) return;
  await new Promise<void>((resolve) => process.send!(message, undefined, {}, () => resolve()));
  if (process.connected) process.disconnect();
}

/** Names and reasons come from peers. */
function printLine(text: string): void {
  process.stderr.write(`uscope: ${printable(text)}\n`);
}

function lineReporter(): Reporter {
  const line = printLine;
  const trouble = new LineLimit(line);
  return {
    tell(message) {
      if (message.type === 'trouble') {
        const text = `${message.name}: ${message.failure.message}`;
        if (message.orphan === undefined) trouble.line(text);
        else line(text); // each once
      }
      if (message.type === 'uncopied') line(`${message.name}: ${message.failure.message}`);
      if (message.type === 'ready') line(`listening on ${message.endpoint}`);
      else if (message.type === 'opened')
        line(`${message.resumed ? 'resumed' : 'opened'} ${message.name} (${message.path})`);
      else if (message.type === 'stalled' && message.failure) line(message.failure.message);
      else if (message.type === 'ended') for (const text of traceLines(message)) line(text);
    },
  };
}

/** Lines that peers can cause are not for flooding a log with. */
class LineLimit {
  private since = Number.NEGATIVE_INFINITY;
  private count = 0;

  constructor(
    private readonly write: (line: string) => void,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  line(text: string): void {
    if (this.clock() - this.since > TROUBLE_WINDOW_MS) {
      this.since = this.clock();
      this.count = 0;
    }
    this.count++;
    if (this.count < TROUBLE_LINES) this.write(text);
    else if (this.count === TROUBLE_LINES) this.write('more troubles like these are not shown for a while');
  }
}
