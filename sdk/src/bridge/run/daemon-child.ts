/** The daemon as a child process: started, restarted when it dies, and asked to finalize at the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorCode } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import type { HostMessage, SupervisorMessage, TraceName } from '../report/host-messages.js';

export interface DaemonChildEvents {
  onMessage(message: HostMessage): void;
  /** It died and another one is started, or, with `final`, none is any more. */
  onDeath(how: string, final: boolean): void;
}

/** Deaths in a row, each soon after the start, after which starting another one is pointless. */
const MAX_FAST_DEATHS = 4;
const FAST_DEATH_MS = 3000;
const RESTART_DELAY_MS = 100;
const LAST_WORD_MS = 3000;

export class DaemonChild {
  private child: ChildProcess | null = null;
  private startedAt = 0;
  private fastDeaths = 0;
  private finalizing: (() => readonly TraceName[]) | null = null;
  private done = false;
  private refusal: UscopeError | null = null;
  private settleReady: { resolve(): void; reject(error: Error): void } | null = null;
  private settleDone: (() => void) | null = null;

  /**
   * @param command program and arguments of the daemon, which talks over Node's channel
   * @param environment added to that of this process
   */
  constructor(
    private readonly command: readonly string[],
    private readonly events: DaemonChildEvents,
    private readonly environment: Readonly<Record<string, string>> = {},
  ) {}

  /** Resolves when the daemon listens. @throws UscopeError why it could not start */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.settleReady = { resolve, reject };
      this.spawn();
    });
  }

  /**
   * Lets the daemon finalize all traces and end; should it die over that, another one continues.
   * @param unfinished called for each request to finalize: the traces known to be unfinished then
   */
  async finalize(unfinished: () => readonly TraceName[]): Promise<void> {
    if (this.done) return;
    await new Promise<void>((resolve) => {
      this.finalizing = unfinished;
      this.settleDone = resolve;
      this.send({ type: 'finalize', unfinished: unfinished() });
    });
  }

  /** No more waiting for disk space. */
  abortWaiting(): void {
    this.send({ type: 'abort' });
  }

  kill(): void {
    this.done = true;
    this.child?.kill('SIGKILL');
  }

  private spawn(): void {
    const [program, ...args] = this.command;
    this.startedAt = performance.now();
    const child = spawn(program, args, {
      // Its own process group: Ctrl-C is meant for the simulator. stdout belongs to the simulator too.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
      env: { ...process.env, ...this.environment },
    });
    this.child = child;
    child.on('message', (message: HostMessage) => this.received(message));
    child.once('error', (error) => this.died(`cannot be started: ${error.message}`, true));
    child.once('exit', (code, signal) =>
      this.died(signal ? `was killed by ${signal}` : `ended with status ${code}`, signal === null),
    );
  }

  private received(message: HostMessage): void {
    if (message.type === 'ready') {
      this.settleReady?.resolve();
      this.settleReady = null;
      if (this.finalizing) this.send({ type: 'finalize', unfinished: this.finalizing() });
    } else if (message.type === 'refused') {
      const { code, message: text } = message.failure;
      this.refusal = new UscopeError(code as ErrorCode, text.replace(`${code}: `, ''));
    } else if (message.type === 'done') {
      this.done = true;
      // Everything is on disk: what still keeps the process from ending does not matter.
      const { child } = this;
      setTimeout(() => child?.kill('SIGKILL'), LAST_WORD_MS).unref();
    }
    this.events.onMessage(message);
  }

  /** @param byItself it will not do better the next time */
  private died(how: string, byItself: boolean): void {
    this.child = null;
    if (this.done) {
      this.settleDone?.();
      return;
    }
    this.fastDeaths = performance.now() - this.startedAt < FAST_DEATH_MS ? this.fastDeaths + 1 : 1;
    const final = this.fastDeaths > MAX_FAST_DEATHS;
    if (this.settleReady && (byItself || final)) {
      this.done = true;
      this.settleReady.reject(
        this.refusal ?? new UscopeError('BRIDGE_LOST', `the daemon ${how} before it was ready`),
      );
      return;
    }
    this.done = final;
    this.events.onDeath(this.refusal ? `${how}: ${this.refusal.message}` : how, final);
    if (final) this.settleDone?.();
    else void delay(RESTART_DELAY_MS).then(() => this.done || this.spawn());
  }

  private send(message: SupervisorMessage): void {
    // A daemon that is gone gets the message when its successor is ready.
    if (this.child?.connected) this.child.send(message, () => {});
  }
}
