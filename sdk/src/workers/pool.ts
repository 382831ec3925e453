/**
 * Several threads that read one trace: requests with priority and `AbortSignal`, answers moved instead of copied and kept in a bounded cache, growth of
 * a live trace pushed. The same in Node and in browsers; what differs is how a thread is started.
 */
import { UscopeError } from '../base/errors.js';
import type { TraceWarning } from '../reader/index.js';
import { AnswerCache } from './answer-cache.js';
import { type Job, Member } from './member.js';
import type { Known, OpenMessage, ThreadOpenOptions, TraceLocation } from './messages.js';
import { KEPT, type RequestKind, type RequestTypes, type TraceExtent } from './requests.js';
import type { StartThread } from './thread.js';

export interface WorkerOptions extends ThreadOpenOptions {
  /** Number of threads; they are started when there is work for them. Default: the processors of the machine, 8 at most. */
  readonly threads?: number | undefined;
  /** Bytes of answers kept. Default 256 MiB; 0: none. */
  readonly answerBytes?: number | undefined;
  /** How threads are started, where the default does not do: a page that was bundled starts its own file (docs/reference/reader-api.md#in-a-page). */
  readonly start?: StartThread | undefined;
  /** Called once per kind of warning, as by `openTrace`. */
  readonly onWarning?: ((warning: TraceWarning) => void) | undefined;
}

export interface RequestOptions {
  /** Those of higher priority come first, also before what is being done. Default 0. */
  readonly priority?: number | undefined;
  /** Ends the request: it fails with the signal's reason at once, and the thread turns to the next within milliseconds. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the share done, 0 to 1, now and then. */
  readonly progress?: ((fraction: number) => void) | undefined;
}

/** What subscribers of a live trace hear. */
export interface TraceGrowth extends TraceExtent {
  readonly newSegments: number;
  /** True once. */
  readonly finalized: boolean;
}

export interface GrowthListener {
  grown(growth: TraceGrowth): void;
  /** The trace could not be looked at, for instance because the file was replaced (READER_CHANGED); it is tried again. */
  failed?(error: Error): void;
}

const MiB = 1024 * 1024;
const DEFAULT_ANSWER_BYTES = 256 * MiB;
/** A cancelled request that is not over after this time hangs: its thread is replaced. */
const GRACE_MS = 2000;
const DEFAULT_POLL_MS = 500;

/** A request that waits or is done; several callers may wait for the same. */
interface Request {
  readonly id: number;
  readonly kind: string;
  readonly params: unknown;
  readonly key: string | null;
  priority: number;
  readonly callers: Set<Caller>;
  member: Member | null;
}

interface Caller {
  readonly progress: RequestOptions['progress'];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class WorkerPool {
  private readonly members: Member[];
  private readonly waiting: Request[] = [];
  private readonly byKey = new Map<string, Request>();
  private readonly cache: AnswerCache;
  private readonly warned = new Set<string>();
  private readonly listeners = new Set<GrowthListener>();
  private known: Known = { segments: 0, isComplete: false };
  private pollTimer: ReturnType<typeof setTimeout> | undefined;
  private graceTimer: ReturnType<typeof setTimeout> | undefined;
  private nextId = 1;
  private isClosed = false;

  constructor(
    location: TraceLocation,
    start: StartThread,
    threads: number,
    private readonly options: WorkerOptions,
  ) {
    const { maxSegmentBytes, maxStateBytes, cacheBytes, verify } = options;
    const open: OpenMessage = {
      type: 'open',
      location,
      options: { maxSegmentBytes, maxStateBytes, cacheBytes, verify },
    };
    this.cache = new AnswerCache(options.answerBytes ?? DEFAULT_ANSWER_BYTES);
    const listener = {
      opened: (known: Known) => this.learn(known),
      warning: (warning: TraceWarning) => this.warn(warning),
      free: () => this.dispatch(),
    };
    this.members = Array.from({ length: threads }, () => new Member(start, open, listener));
  }

  /** Bytes of answers kept now. */
  get answerBytes(): number {
    return this.cache.bytes;
  }

  /**
   * Asks one of the threads. Answers may be shared with other callers: do not change their arrays.
   * @throws UscopeError as the call that the kind is named after; READER_THREAD when the thread has ended (another one is started for later requests);
   *   the signal's reason when it is aborted
   */
  request<K extends RequestKind>(
    kind: K,
    params: RequestTypes[K]['params'],
    { priority = 0, signal, progress }: RequestOptions = {},
  ): Promise<RequestTypes[K]['answer']> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.isClosed) return Promise.reject(closed());
    const key = KEPT.has(kind) ? keyOf(kind, params) : null;
    const kept = key === null ? undefined : this.cache.get(key);
    if (kept) return Promise.resolve(kept.value as RequestTypes[K]['answer']);
    return new Promise((resolve, reject) => {
      const request = this.sameRequest(key, priority) ?? this.newRequest(kind, params, key, priority);
      const abort = (): void => {
        request.callers.delete(caller);
        reject(signal?.reason);
        if (request.callers.size === 0) this.drop(request);
      };
      const done = (): void => signal?.removeEventListener('abort', abort);
      const caller: Caller = {
        progress,
        resolve: (value) => {
          done();
          resolve(value as RequestTypes[K]['answer']);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      signal?.addEventListener('abort', abort);
      request.callers.add(caller);
      this.dispatch();
    });
  }

  /** Checks whether a live trace has grown, and notifies the subscribers if so. @throws UscopeError as `Trace.poll` */
  async poll(): Promise<TraceGrowth> {
    const before = this.known;
    const extent = await this.request('poll', null, { priority: Number.MAX_VALUE });
    const growth = {
      ...extent,
      newSegments: Math.max(0, extent.segments - before.segments),
      finalized: extent.isComplete && !before.isComplete,
    };
    this.learn(extent);
    // What was asked about the end of the trace has another answer now.
    if (growth.newSegments > 0 || growth.finalized) {
      this.cache.clear();
      for (const listener of this.listeners) listener.grown(growth);
    }
    return growth;
  }

  /** Has a live trace polled for as long as anybody subscribes. @returns ends the subscription */
  subscribe(listener: GrowthListener, pollMs = DEFAULT_POLL_MS): () => void {
    this.listeners.add(listener);
    this.pollTimer ??= setTimeout(() => this.pollAgain(pollMs), 0);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stopPolling();
    };
  }

  /** Ends all threads; what they were asked fails. */
  close(): void {
    this.isClosed = true;
    this.stopPolling();
    clearTimeout(this.graceTimer);
    for (const request of this.waiting.splice(0)) this.settle(request, (caller) => caller.reject(closed()));
    for (const member of this.members) for (const job of member.end()) job.failed(closed());
    this.cache.clear();
  }

  private sameRequest(key: string | null, priority: number): Request | undefined {
    const request = key === null ? undefined : this.byKey.get(key);
    if (request) request.priority = Math.max(request.priority, priority);
    return request;
  }

  private newRequest(kind: string, params: unknown, key: string | null, priority: number): Request {
    const request: Request = {
      id: this.nextId++,
      kind,
      params,
      key,
      priority,
      callers: new Set(),
      member: null,
    };
    if (key !== null) this.byKey.set(key, request);
    this.waiting.push(request);
    return request;
  }

  /** Nobody waits for it any more. */
  private drop(request: Request): void {
    this.forget(request);
    const index = this.waiting.indexOf(request);
    if (index >= 0) this.waiting.splice(index, 1);
    else if (request.member) {
      request.member.cancel(request.id, performance.now());
      this.graceTimer ??= setTimeout(() => this.replaceHanging(), GRACE_MS);
    }
  }

  private forget(request: Request): void {
    if (request.key !== null && this.byKey.get(request.key) === request) this.byKey.delete(request.key);
  }

  /** Gives what waits to threads: to idle ones; what is more urgent than all that a thread does, also to that one. */
  private dispatch(): void {
    while (!this.isClosed && this.waiting.length > 0) {
      const index = mostUrgent(this.waiting);
      const request = this.waiting[index];
      const member = leastUrgent(this.members);
      if (member.priority >= request.priority && member.jobs.size > 0) return;
      this.waiting.splice(index, 1);
      this.give(request, member);
    }
  }

  private give(request: Request, member: Member): void {
    const { id, kind, params, priority } = request;
    request.member = member;
    const job: Job = {
      message: { type: 'request', id, kind, params, priority, known: this.known },
      cancelledAt: null,
      progress: (fraction) => {
        for (const { progress } of request.callers) progress?.(fraction);
      },
      answered: (value, bytes) => {
        if (request.key !== null && request.callers.size > 0)
          this.cache.put(request.key, value, bytes || sizeOf(value));
        this.settle(request, (caller) => caller.resolve(value));
      },
      failed: (error) => this.settle(request, (caller) => caller.reject(error)),
    };
    member.run(job);
  }

  private settle(request: Request, tell: (caller: Caller) => void): void {
    this.forget(request);
    const callers = [...request.callers];
    request.callers.clear();
    for (const caller of callers) tell(caller);
  }

  /** A thread that does not end a cancelled request is ended itself; what else it was doing is done again by another one. */
  private replaceHanging(): void {
    this.graceTimer = undefined;
    const now = performance.now();
    let isSoon = false;
    for (const member of this.members) {
      const cancelled = [...member.jobs.values()].filter(({ cancelledAt }) => cancelledAt !== null);
      if (!cancelled.some(({ cancelledAt }) => now - (cancelledAt ?? now) >= GRACE_MS * 0.9)) {
        isSoon ||= cancelled.length > 0;
        continue;
      }
      for (const job of member.end()) if (job.cancelledAt === null) member.run(job);
    }
    if (isSoon) this.graceTimer = setTimeout(() => this.replaceHanging(), GRACE_MS);
    this.dispatch();
  }

  private learn({ segments, isComplete }: Known): void {
    this.known = {
      segments: Math.max(segments, this.known.segments),
      isComplete: isComplete || this.known.isComplete,
    };
  }

  private warn(warning: TraceWarning): void {
    if (this.warned.has(warning.kind)) return;
    this.warned.add(warning.kind);
    this.options.onWarning?.(warning);
  }

  private async pollAgain(pollMs: number): Promise<void> {
    try {
      await this.poll();
    } catch (error) {
      for (const listener of this.listeners) listener.failed?.(error as Error);
    }
    if (this.listeners.size === 0 || this.isClosed || this.known.isComplete) this.pollTimer = undefined;
    else this.pollTimer = setTimeout(() => this.pollAgain(pollMs), pollMs);
  }

  private stopPolling(): void {
    clearTimeout(this.pollTimer);
    this.pollTimer = undefined;
  }
}

function closed(): UscopeError {
  return new UscopeError('READER_THREAD', 'the threads that read the trace were closed');
}

/** Index of the first of the highest priority. */
function mostUrgent(waiting: readonly Request[]): number {
  let best = 0;
  for (let index = 1; index < waiting.length; index++)
    if (waiting[index].priority > waiting[best].priority) best = index;
  return best;
}

/** An idle one, else the one that does the least urgent things. */
function leastUrgent(members: readonly Member[]): Member {
  return members.reduce((best, member) => (member.priority < best.priority ? member : best));
}

function keyOf(kind: string, params: unknown): string {
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
  return `${kind} ${JSON.stringify(params, text)}`;
}

/** About how much memory an answer without arrays takes. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 16;
  return Object.values(value).reduce<number>((sum, one) => sum + sizeOf(one), 32);
}
