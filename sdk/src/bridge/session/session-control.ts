/** Commands from outside for the client of one session: handed over one at a time, repeated after a reconnect, answered when the client has acted. */
import { randomInt } from 'node:crypto';
import { UscopeError } from '../../base/errors.js';
import type { ControlledMessage, DaemonMessage } from '../wire/protocol.js';

/** What `uscope ctl` asks of a trace. */
export interface Command {
  readonly action: string;
  readonly scope?: string | undefined;
  readonly text?: string | undefined;
}

/** How it ended; `pending`: the client has not begun a cycle since. */
export interface Outcome {
  readonly outcome: 'done' | 'failed' | 'pending';
  readonly code?: string | undefined;
  readonly msg?: string | undefined;
}

/** The connection a command travels on. */
interface Link {
  readonly trace: number;
  readonly epoch: number;
  send(message: DaemonMessage): void;
}

interface Waiting {
  readonly number: number;
  readonly command: Command;
  settle(outcome: Outcome): void;
}

const MAX_WAITING = 64;
/** What a client knows of another daemon's numbers must not be taken for ours. */
const MAX_FIRST_NUMBER = 0x3fff_ffff;

export class SessionControl {
  /** Disabled scopes, as the client said last; the empty path is the whole trace. */
  disabled: ControlledMessage['disabled'] = [];
  /** Items the client left out because their scope was disabled. */
  skipped = 0n;

  private readonly waiting: Waiting[] = [];
  private nextNumber = randomInt(1, MAX_FIRST_NUMBER);

  constructor(private readonly link: () => Link | null) {}

  get isPaused(): boolean {
    return this.disabled.some(([path]) => path === '');
  }

  /** Resolves when the client has acted. @throws UscopeError BRIDGE_LIMIT */
  request(command: Command): Promise<Outcome> {
    if (this.waiting.length >= MAX_WAITING) {
      throw new UscopeError('BRIDGE_LIMIT', `${MAX_WAITING} commands wait for the client to begin a cycle`);
    }
    return new Promise((settle) => {
      this.waiting.push({ number: this.nextNumber++, command, settle });
      if (this.waiting.length === 1) this.send();
    });
  }

  /** The trace is open on a (new) connection: what was not answered is said again. */
  resume(): void {
    this.send();
  }

  /** What the client says it has done. */
  controlled(message: ControlledMessage): void {
    this.disabled = message.disabled;
    this.skipped = message.skipped;
    const [first] = this.waiting;
    if (first?.number !== message.done) return;
    this.waiting.shift();
    const { code, msg } = message;
    first.settle(code === undefined ? { outcome: 'done' } : { outcome: 'failed', code, msg });
    this.send();
  }

  /** The trace is over: nobody will act any more. */
  end(): void {
    for (const { settle } of this.waiting.splice(0)) {
      const msg = 'the trace ended before its client acted';
      settle({ outcome: 'failed', code: 'BRIDGE_CLIENT_LOST', msg });
    }
  }

  private send(): void {
    const link = this.link();
    const [first] = this.waiting;
    if (!link || !first) return;
    const { trace, epoch } = link;
    const { action, scope, text } = first.command;
    link.send({ t: 'control', trace, epoch, number: first.number, action, scope, text });
  }
}
