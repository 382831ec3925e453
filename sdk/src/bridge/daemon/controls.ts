/** `uscope ctl` in the daemon: commands for the clients of its traces, and the state of those traces (docs/how-to/control.md). */
import { setTimeout as delay } from 'node:timers/promises';
import { UscopeError } from '../../base/errors.js';
import { CONTROL_ACTIONS } from '../../schema/control.js';
import type { Session } from '../session/session.js';
import type { Outcome } from '../session/session-control.js';
import type { ControlledTrace, CtlDoneMessage, CtlMessage } from '../wire/protocol.js';

const STATUS = 'status';
/** As `status`; traces are also committed more often, for two seconds: somebody looks on. */
const HASTEN = 'hasten';
const OF_DAEMON: readonly string[] = [STATUS, HASTEN];
const DEFAULT_TIMEOUT_MS = 5000;
const MAX_TIMEOUT_MS = 600_000;

interface Sample {
  readonly at: number;
  readonly items: bigint;
  readonly rate: bigint;
}

export class Controls {
  /** For the rate: what was seen when the traces were last looked at. */
  private readonly samples = new WeakMap<Session, Sample>();

  /** @param isGone whether the process of a session's client has ended */
  constructor(
    private readonly sessions: () => readonly Session[],
    private readonly isGone: (session: Session) => boolean,
  ) {}

  /** Called about once a second. */
  sample(now = performance.now()): void {
    for (const session of this.sessions()) {
      const { items } = session.stats.accepted;
      const before = this.samples.get(session);
      const rate = before ? perSecond(items - before.items, now - before.at) : 0n;
      this.samples.set(session, { at: now, items, rate });
    }
  }

  /**
   * Carries a command out; resolves when all clients have acted, or at its timeout.
   * @throws UscopeError BRIDGE_MESSAGE for a command that is none, BRIDGE_UNKNOWN_TRACE
   */
  async perform(message: CtlMessage): Promise<CtlDoneMessage> {
    const { req, action, scope, text, timeout_ms = DEFAULT_TIMEOUT_MS } = message;
    checkAction(action);
    const sessions = this.select(message.trace);
    const timeoutMs = Math.min(timeout_ms, MAX_TIMEOUT_MS);
    if (action === HASTEN) for (const session of sessions) session.hasten();
    const outcomes = await Promise.all(
      sessions.map((session) =>
        OF_DAEMON.includes(action)
          ? ({ outcome: 'done' } as const)
          : this.command(session, { action, scope, text }, timeoutMs),
      ),
    );
    const traces = sessions.map(
      (session, index) => [session.init.name, this.describe(session, outcomes[index])] as const,
    );
    return { t: 'ctl_done', req, traces };
  }

  private select(name: string | undefined): readonly Session[] {
    const sessions = this.sessions();
    if (name === undefined) return sessions;
    const chosen = sessions.filter((session) => session.init.name === name);
    if (chosen.length > 0) return chosen;
    const open = sessions.map((session) => session.init.name).join(', ') || 'none';
    throw new UscopeError('BRIDGE_UNKNOWN_TRACE', `no trace "${name}" is open here; open are: ${open}`);
  }

  private async command(
    session: Session,
    command: Parameters<Session['control']['request']>[0],
    timeoutMs: number,
  ): Promise<Outcome> {
    if (this.isGone(session)) return lost();
    const timer = new AbortController();
    const limit = delay(timeoutMs, undefined, { signal: timer.signal }).then(
      (): Outcome => (this.isGone(session) ? lost() : pending(timeoutMs)),
      (): Outcome => ({ outcome: 'pending' }),
    );
    try {
      return await Promise.race([session.control.request(command), limit]);
    } catch (error) {
      if (!(error instanceof UscopeError)) throw error;
      return { outcome: 'failed', code: error.code, msg: error.detail };
    } finally {
      timer.abort();
    }
  }

  private describe(session: Session, outcome: Outcome): ControlledTrace {
    const { stats, control } = session;
    return {
      ...outcome,
      state: this.stateOf(session),
      path: stats.path,
      time_ps: stats.accepted.totalTimePs,
      frames: stats.accepted.frames,
      items: stats.accepted.items,
      bytes: stats.bytes,
      unacked: session.unacknowledgedBytes,
      rate: this.rateOf(session),
      disabled: control.disabled,
      skipped: control.skipped,
    };
  }

  private stateOf(session: Session): string {
    if (this.isGone(session)) return 'client lost';
    if (session.stalled) return 'stalled';
    return session.control.isPaused ? 'paused' : 'recording';
  }

  /** Since the last look, when that is long enough ago to say something. */
  private rateOf(session: Session): bigint {
    const sample = this.samples.get(session);
    if (!sample) return 0n;
    const elapsed = performance.now() - sample.at;
    return elapsed < 500 ? sample.rate : perSecond(session.stats.accepted.items - sample.items, elapsed);
  }
}

function perSecond(items: bigint, ms: number): bigint {
  return ms > 0 && items > 0n ? BigInt(Math.round((Number(items) * 1000) / ms)) : 0n;
}

function checkAction(action: string): void {
  if (OF_DAEMON.includes(action) || (CONTROL_ACTIONS as readonly string[]).includes(action)) return;
  throw new UscopeError(
    'BRIDGE_MESSAGE',
    `"${action.slice(0, 40)}" is not a command; there are ${OF_DAEMON.join(', ')}, ${CONTROL_ACTIONS.join(', ')}`,
  );
}

function lost(): Outcome {
  return { outcome: 'failed', code: 'BRIDGE_CLIENT_LOST', msg: "the client's process has ended" };
}

function pending(timeoutMs: number): Outcome {
  const msg = `the client has not begun a cycle within ${timeoutMs} ms; it acts when it does`;
  return { outcome: 'pending', msg };
}
