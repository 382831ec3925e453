/** `uscope run`: a separate daemon, the simulator, and what is said and done when it ends. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa, type Options, type ResultPromise } from 'execa';
import { UscopeError } from '../../base/errors.js';
import { accountOf } from '../../writer/contract/account.js';
import type { TraceStats } from '../../writer/index.js';
import { scratchDirectory } from '../../writer/output/directories.js';
import { newRun, runEnvironment } from '../daemon/run-identity.js';
import { type HostMessage, outliveLog, type TraceName } from '../report/host-messages.js';
import { type RunSummary, writeRunJson } from '../report/run-json.js';
import { runLines } from '../report/run-table.js';
import { exitStatus, type TraceReport, traceLines } from '../report/summary.js';
import { MAX_IPC_PATH_BYTES } from '../wire/endpoint.js';
import { DaemonChild } from './daemon-child.js';
import { Progress, type ProgressOutput } from './progress.js';
import { forwardSignals } from './signals.js';

export interface RunOptions {
  /** The simulator and its arguments. */
  readonly command: readonly [program: string, ...args: string[]];
  /** Options of `uscope serve`, except the endpoint. */
  readonly serveArguments: readonly string[];
  /** Default: a private socket in a new directory. */
  readonly endpoint?: string | undefined;
  /** A simulator that runs longer is ended. */
  readonly timeoutMs?: number | undefined;
  /** How long the clients wait for a daemon that does not answer. */
  readonly daemonTimeoutMs?: number | undefined;
  /** Where the summary goes as JSON: a file, or `-` for stdout. */
  readonly json?: string | undefined;
  /** Called at the end with the paths of the traces. */
  readonly onEnd?: ((paths: readonly string[]) => Promise<void>) | undefined;
  /** Default: stderr. */
  readonly output?: ProgressOutput | undefined;
}

interface Trace extends TraceName {
  readonly core: number | null;
  readonly periodPs: number;
  /** As its daemon has reported it last. */
  stats: TraceStats | null;
  report: TraceReport | null;
}

/** As timeout(1) has it. */
const EXIT_TIMEOUT = 124;
/** What shells and the loader of shared libraries end with when they cannot start a program. */
const EXIT_NOT_STARTED = 127;
/** From SIGTERM to SIGKILL. */
const TERMINATION_MS = 5000;

const BIN = fileURLToPath(new URL('../../../bin/uscope.js', import.meta.url));

/**
 * Runs a simulator under a daemon; returns the exit status: the simulator's, or 3 when a trace is not whole or there is none.
 * @throws UscopeError CLI_USAGE when the simulator cannot be started, and why the daemon could not
 */
export async function supervise(options: RunOptions): Promise<number> {
  outliveLog();
  const directory = await privateDirectory();
  try {
    const run = new Run(options, options.endpoint ?? `ipc://${directory}/daemon.sock`);
    const status = await run.carryOut();
    await options.onEnd?.(run.paths);
    return status;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** mkdtemp makes it with mode 0700. A socket's path must be short, which a temporary directory's need not be. */
async function privateDirectory(): Promise<string> {
  const path = join(tmpdir(), 'uscope-xxxxxx/daemon.sock');
  return scratchDirectory('uscope', Buffer.byteLength(path) <= MAX_IPC_PATH_BYTES ? undefined : '/tmp');
}

class Run {
  private readonly traces = new Map<string, Trace>();
  /** Traces that could not be opened, by name, and why. */
  private readonly refused = new Map<string, string>();
  /** Traces of clients that have ended, that the daemon found and could not finalize. */
  private left = 0;
  /** Traces without the copy that their models asked for. */
  private uncopied = 0;
  private readonly run = newRun();
  private readonly startedAt = performance.now();
  /** When the first trace was opened and the last one ended. */
  private firstOpened: number | null = null;
  private lastEnded = 0;
  private readonly progress: Progress;
  private readonly daemon: DaemonChild;
  private readonly output: ProgressOutput;
  private hurried = false;
  private isTimedOut = false;

  constructor(
    private readonly options: RunOptions,
    private readonly endpoint: string,
  ) {
    this.output = options.output ?? process.stderr;
    this.progress = new Progress(this.output);
    const command = [process.execPath, BIN, 'serve', '--endpoint', endpoint, ...options.serveArguments];
    const events = {
      onMessage: (message: HostMessage) => this.heard(message),
      onDeath: (how: string, final: boolean) => this.daemonDied(how, final),
    };
    this.daemon = new DaemonChild(command, events, runEnvironment(this.run));
  }

  async carryOut(): Promise<number> {
    await this.daemon.start();
    let status: number;
    const signals = forwardSignals((signal) => this.progress.note(signal));
    try {
      const simulator = this.startSimulator();
      signals.attach(simulator);
      const limit = this.limitTime(simulator);
      status = await this.simulatorStatus(simulator);
      clearTimeout(limit);
      if (this.isTimedOut) status = EXIT_TIMEOUT;
      signals.attach(null, () => this.hurry());
      await this.finalize();
    } catch (error) {
      await this.finalize();
      throw error;
    } finally {
      signals.restore();
    }
    return this.conclude(status);
  }

  private startSimulator(): ResultPromise {
    const [program, ...args] = this.options.command;
    const { daemonTimeoutMs: timeoutMs } = this.options;
    const env: Record<string, string> = {
      USCOPE_ENDPOINT: this.endpoint,
      ...runEnvironment(this.run),
      ...(timeoutMs === undefined ? {} : { USCOPE_TIMEOUT_MS: String(timeoutMs) }),
    };
    const settings: Options = { stdio: 'inherit', env, reject: false, forceKillAfterDelay: false };
    return execa(program, args, settings);
  }

  /** SIGTERM to a simulator that has run for too long, SIGKILL to one that does not mind. */
  private limitTime(simulator: ResultPromise): NodeJS.Timeout | undefined {
    const { timeoutMs } = this.options;
    if (timeoutMs === undefined) return undefined;
    return setTimeout(() => {
      this.isTimedOut = true;
      this.progress.note(`the simulator has run for ${timeoutMs / 1000} s: it is ended, its traces are kept`);
      simulator.kill('SIGTERM');
      const last = setTimeout(() => simulator.kill('SIGKILL'), TERMINATION_MS);
      void simulator.then(() => clearTimeout(last));
    }, timeoutMs);
  }

  private async simulatorStatus(simulator: ResultPromise): Promise<number> {
    const { exitCode, signal, code, message } = (await simulator) as {
      exitCode?: number;
      signal?: keyof typeof constants.signals;
      code?: string;
      message?: string;
    };
    if (signal) {
      this.progress.note(`the simulator was killed by ${signal}`);
      return 128 + constants.signals[signal];
    }
    if (exitCode !== undefined) return exitCode;
    const [program] = this.options.command;
    const reason =
      code === 'ENOENT'
        ? 'there is no such program'
        : code === 'EACCES'
          ? 'it may not be executed'
          : (message ?? 'for an unknown reason');
    throw new UscopeError('CLI_USAGE', `the simulator "${program}" cannot be started: ${reason}`);
  }

  private heard(message: HostMessage): void {
    if (message.type === 'opened') {
      const { name, path, session, core, periodPs } = message;
      this.traces.set(session, { name, path, session, core, periodPs, stats: null, report: null });
      this.firstOpened ??= performance.now();
      this.refused.delete(name);
      this.progress.opened(session, name, periodPs);
    } else if (message.type === 'progress') {
      for (const { session, stats } of message.traces) {
        this.progress.update(session, stats);
        const trace = this.traces.get(session);
        if (trace) trace.stats = stats;
      }
    } else if (message.type === 'stalled') {
      this.progress.stalled(message.session, message.failure !== null);
      if (message.failure) this.progress.note(message.failure.message);
    } else if (message.type === 'trouble' && message.orphan !== undefined) {
      if (message.orphan === 'left') this.left++;
      this.progress.note(`${message.name}: ${message.failure.message}`);
    } else if (message.type === 'uncopied') {
      this.uncopied++;
      this.progress.note(`${message.name}: ${message.failure.message}`);
    } else if (message.type === 'trouble') {
      this.refused.set(message.name, message.failure.message);
    } else if (message.type === 'ended') {
      const { session } = message;
      const { core = null, periodPs = 0 } = this.traces.get(session) ?? {};
      this.traces.set(session, {
        ...nameOf(message),
        core,
        periodPs,
        stats: message.stats,
        report: { ...message, core, periodPs },
      });
      this.lastEnded = performance.now();
      this.progress.ended(session);
    }
  }

  private daemonDied(how: string, final: boolean): void {
    this.progress.note(
      final
        ? `the daemon ${how}, again and again: it is not started any more`
        : `the daemon ${how}; another one is started and the simulator sends again what is not on disk`,
    );
  }

  private async finalize(): Promise<void> {
    await this.daemon.finalize(() => [...this.traces.values()].filter(({ report }) => report === null));
    this.progress.clear();
  }

  /** A signal while traces are finalized: first no more waiting for a full disk, then no more waiting. */
  private hurry(): void {
    if (this.hurried) {
      this.progress.note('the daemon is killed; its traces stay unfinished');
      this.daemon.kill();
    } else {
      this.progress.note('finalizing what there is, without waiting for disk space or copies');
      this.daemon.abortWaiting();
    }
    this.hurried = true;
  }

  /** Of the traces that were opened. */
  get paths(): string[] {
    return [...this.traces.values()].map(({ path }) => path);
  }

  private async conclude(status: number): Promise<number> {
    const reports = [...this.traces.values()].map(reportOf);
    const tracedMs = this.firstOpened === null ? 0 : Math.max(0, this.lastEnded - this.firstOpened);
    const lines = reports.length > 1 ? runLines(reports, tracedMs) : reports.flatMap(traceLines);
    for (const line of lines) this.progress.note(line);
    for (const [name, why] of this.refused) this.progress.note(`no trace "${name}": ${why}`);
    if (reports.length === 0 && this.refused.size === 0) this.progress.note(whyUntraced(status));
    const [first] = this.paths;
    if (first !== undefined && this.output.isTTY) this.progress.note(`look at it with: uscope view ${first}`);
    const all = exitStatus(status, reports, this.refused.size + this.left + this.uncopied);
    await this.writeJson({ tracedMs, simulatorStatus: status, exitStatus: all, reports });
    return all;
  }

  private async writeJson(
    outcome: Pick<RunSummary, 'tracedMs' | 'simulatorStatus' | 'exitStatus' | 'reports'>,
  ): Promise<void> {
    const { json, command } = this.options;
    if (json === undefined) return;
    const { run, refused, startedAt } = this;
    const durationMs = performance.now() - startedAt;
    await writeRunJson(json, { run, durationMs, command, refused, ...outcome });
  }
}

/** A simulator that could not even start has said so itself. */
function whyUntraced(status: number): string {
  if (status === 0)
    return 'no trace was opened: the simulator ran untraced. Check that its model opens a trace, and that it was built with tracing';
  const loader =
    status === EXIT_NOT_STARTED
      ? '; this status usually means that a program or a shared library was not found'
      : '';
  return `no trace was opened: the simulator ended with status ${status} before that; its own messages say why${loader}`;
}

function nameOf({ name, path, session }: TraceName): TraceName {
  return { name, path, session };
}

function reportOf({ name, path, core, periodPs, stats, report }: Trace): TraceReport {
  if (report) return { ...report, keptMemory: stillThere(report.keptMemory) };
  const seen = stats && { frames: stats.accepted.frames, isExact: false };
  const account = seen && accountOf({ stats, completed: seen });
  return { name, path, core, periodPs, stats: null, account, failure: null, reasons: [] };
}

/** A client may have removed what it said it would keep. */
function stillThere(path: string | null | undefined): string | null {
  return path && existsSync(path) ? path : null;
}
