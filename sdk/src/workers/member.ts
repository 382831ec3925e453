/** One thread of a pool: starts it when it is needed, and hands over what it says. */
import { UscopeError } from '../base/errors.js';
import type { TraceWarning } from '../reader/index.js';
import type { FromThread, Known, OpenMessage, RequestMessage } from './messages.js';
import { receiveError } from './messages.js';
import type { StartThread, Thread } from './thread.js';

/** A request on its way. */
export interface Job {
  readonly message: RequestMessage;
  /** Cancelled at: it is expected to be over soon. Null: not cancelled. */
  cancelledAt: number | null;
  progress?(fraction: number): void;
  answered(value: unknown, bytes: number): void;
  failed(error: Error): void;
}

export interface MemberListener {
  opened(known: Known): void;
  warning(warning: TraceWarning): void;
  /** A request is over: there is room for the next. */
  free(): void;
}

export class Member {
  readonly jobs = new Map<number, Job>();
  private thread: Thread | null = null;

  constructor(
    private readonly start: StartThread,
    private readonly open: OpenMessage,
    private readonly listener: MemberListener,
  ) {}

  /** Highest priority of what it does; -Infinity: it does nothing. */
  get priority(): number {
    let highest = Number.NEGATIVE_INFINITY;
    for (const { message } of this.jobs.values()) highest = Math.max(highest, message.priority);
    return highest;
  }

  run(job: Job): void {
    this.jobs.set(job.message.id, job);
    try {
      this.thread ??= this.begin();
      this.thread.hold?.(true);
      this.thread.post(job.message);
    } catch (error) {
      // What cannot be copied cannot be asked; a thread that cannot be started fails all that it was to do.
      this.jobs.delete(job.message.id);
      job.failed(error as Error);
      this.listener.free();
    }
  }

  cancel(id: number, now: number): void {
    const job = this.jobs.get(id);
    if (!job || job.cancelledAt !== null) return;
    job.cancelledAt = now;
    this.thread?.post({ type: 'cancel', id });
  }

  /** Ends the thread. @returns what it was doing; a later request starts another thread */
  end(): Job[] {
    const jobs = [...this.jobs.values()];
    this.jobs.clear();
    this.thread?.end();
    this.thread = null;
    return jobs;
  }

  private begin(): Thread {
    let thread: Thread | null = null;
    const isCurrent = (): boolean => thread !== null && thread === this.thread;
    thread = this.start({
      message: (message) => {
        if (isCurrent()) this.receive(message as FromThread);
      },
      died: (reason) => {
        if (isCurrent())
          this.fail(new UscopeError('READER_THREAD', `a thread that reads the trace has ended: ${reason}`));
      },
    });
    thread.post(this.open);
    return thread;
  }

  private receive(message: FromThread): void {
    switch (message.type) {
      case 'opened':
        this.listener.opened(message.known);
        break;
      case 'failed':
        this.fail(receiveError(message.error));
        break;
      case 'warning':
        this.listener.warning(message.warning);
        break;
      case 'progress':
        this.jobs.get(message.id)?.progress?.(message.fraction);
        break;
      case 'answer':
        this.over(message.id, (job) => job.answered(message.value, message.bytes));
        break;
      case 'error':
        this.over(message.id, (job) => job.failed(receiveError(message.error)));
    }
  }

  private over(id: number, tell: (job: Job) => void): void {
    const job = this.jobs.get(id);
    if (!job) return;
    this.jobs.delete(id);
    if (this.jobs.size === 0) this.thread?.hold?.(false);
    tell(job);
    this.listener.free();
  }

  private fail(error: Error): void {
    for (const job of this.end()) job.failed(error);
    this.listener.free();
  }
}
