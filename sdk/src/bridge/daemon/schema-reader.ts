/**
 * Reads the schemas of `open`s. One that is little work is read at once; any other in a thread, with its own bounds on memory and time, so
 * that the daemon continues taking records meanwhile. What has been read is remembered: the simulators of a farm bring the same again and again.
 */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { UscopeError } from '../../base/errors.js';
import type { ParsedSchema, WorkLimits } from '../../schema/index.js';
import type { MemoryAccount, MemoryGrant } from '../memory/memory-account.js';
import { FairQueue, type Peer } from './fair-queue.js';
import { readWithin, type SchemaRequest, TOO_MUCH } from './schema-request.js';
import type { SchemaAnswer } from './schema-thread.js';

/** Read at once: some milliseconds at most. */
const QUICK_CHARS = 16 * 1024;
const QUICK_LIMITS: WorkLimits = { tokens: 3000, aliases: 300, entries: 3000, chars: 64 * 1024 };
/** Characters of texts that one process may have read at once in a second: beyond that its schemas wait like large ones. */
const QUICK_CHARS_PER_SECOND = 8 * QUICK_CHARS;
const MAX_WAITING = 16;
const MAX_REMEMBERED = 64;
const MAX_REMEMBERED_CHARS = 8 * 1024 * 1024;
const MiB = 1024 * 1024;
const MAX_HEAP_MIB = 256;
const MIN_HEAP_MIB = 32;
/** Of the thread besides its heap. */
const THREAD_MIB = 32;
/** Far more than the largest schema takes, on a machine that is busy with other things. */
const DEFAULT_TIME_LIMIT_MS = 60_000;
/** A thread without work is ended after this time. */
const IDLE_MS = 10_000;

interface Job {
  readonly request: SchemaRequest;
  resolve(parsed: ParsedSchema): void;
  reject(error: Error): void;
}

/** Sources and what is built from them differ in this. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './schema-thread.ts' : './schema-thread.js',
  import.meta.url,
);

export class SchemaReader {
  private readonly remembered = new Map<string, { parsed: ParsedSchema; chars: number }>();
  private rememberedChars = 0;
  private readonly queue = new FairQueue<Job>();
  private readonly quickChars = new Map<string, number>();
  private quickSecond = 0;
  private running: Job | null = null;
  private worker: Worker | null = null;
  private grant: MemoryGrant | null = null;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly memory: MemoryAccount,
    private readonly timeLimitMs = DEFAULT_TIME_LIMIT_MS,
  ) {}

  /** @throws UscopeError SCHEMA_*, BRIDGE_LIMIT, BRIDGE_NO_MEMORY, BRIDGE_FINALIZED */
  async read(request: SchemaRequest, peer: Peer): Promise<ParsedSchema> {
    const key = keyOf(request);
    const known = this.remembered.get(key);
    if (known) return known.parsed;
    const quick = this.mayBeQuick(request, peer) ? readWithin(request, QUICK_LIMITS) : TOO_MUCH;
    const parsed = quick === TOO_MUCH ? await this.inThread(request, peer) : quick;
    this.remember(key, parsed, request.text.length);
    return parsed;
  }

  /** What waits is refused; nobody waits for a schema that is being read. */
  close(): void {
    this.isClosed = true;
    const error = new UscopeError(
      'BRIDGE_FINALIZED',
      'the daemon ends; open the trace again with the next one',
    );
    for (const job of this.queue.clear()) job.reject(error);
    this.endThread(error);
  }

  private mayBeQuick({ text }: SchemaRequest, { process }: Peer): boolean {
    if (text.length > QUICK_CHARS) return false;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.quickSecond) this.quickChars.clear();
    this.quickSecond = second;
    const chars = (this.quickChars.get(process) ?? 0) + text.length;
    this.quickChars.set(process, chars);
    return chars <= QUICK_CHARS_PER_SECOND;
  }

  private inThread(request: SchemaRequest, peer: Peer): Promise<ParsedSchema> {
    if (this.isClosed) return Promise.reject(new UscopeError('BRIDGE_FINALIZED', 'the daemon ends'));
    if (this.queue.waiting(peer) >= MAX_WAITING) {
      const detail = `${MAX_WAITING} schemas of this connection wait to be read; wait for their answers`;
      return Promise.reject(new UscopeError('BRIDGE_LIMIT', detail));
    }
    return new Promise((resolve, reject) => {
      this.queue.add(peer, { request, resolve, reject });
      void this.startNext();
    });
  }

  private async startNext(): Promise<void> {
    if (this.running) return;
    clearTimeout(this.timer);
    const job = this.queue.next();
    if (!job) {
      this.timer = setTimeout(() => this.endThread(), IDLE_MS).unref();
      return;
    }
    this.running = job;
    try {
      const worker = await this.thread();
      if (this.running !== job) return; // closed meanwhile
      this.timer = setTimeout(() => this.endThread(this.tooLong()), this.timeLimitMs).unref();
      worker.postMessage(job.request);
    } catch (error) {
      this.settle((waiting) => waiting.reject(error as Error));
    }
  }

  private async thread(): Promise<Worker> {
    if (this.worker) return this.worker;
    const heapMiB = Math.max(MIN_HEAP_MIB, Math.min(MAX_HEAP_MIB, Math.floor(this.memory.limit / MiB / 8)));
    const grant = this.memory.open('the thread that reads schemas');
    await grant.grant((heapMiB + THREAD_MIB) * MiB);
    if (this.isClosed) {
      grant.release();
      throw new UscopeError('BRIDGE_FINALIZED', 'the daemon ends');
    }
    this.grant = grant;
    const worker = new Worker(THREAD, {
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 16 },
    });
    worker.unref();
    this.worker = worker;
    worker.on('message', (answer: SchemaAnswer) => this.answered(worker, answer));
    worker.on('error', (error) => this.died(worker, error));
    worker.on('exit', () => this.died(worker, new Error('the thread that reads schemas has ended')));
    return worker;
  }

  private answered(worker: Worker, answer: SchemaAnswer): void {
    if (worker !== this.worker) return;
    this.settle((job) => {
      if ('parsed' in answer) job.resolve(answer.parsed);
      else job.reject(new UscopeError(answer.code, answer.detail, answer.place));
    });
  }

  private died(worker: Worker, error: Error): void {
    if (worker !== this.worker) return;
    const isFull = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.endThread(
      isFull ? this.overLimit('more memory than it may') : new UscopeError('BRIDGE_INTERNAL', String(error)),
    );
  }

  private tooLong(): UscopeError {
    return this.overLimit(`more than ${this.timeLimitMs / 1000} s`);
  }

  private overLimit(what: string): UscopeError {
    const file = this.running?.request.file;
    return new UscopeError('SCHEMA_LIMIT', `reading the schema takes ${what}; make it smaller`, {
      file,
      line: 1,
    });
  }

  /** @param error of what is being read */
  private endThread(error?: Error): void {
    clearTimeout(this.timer);
    const { worker, grant } = this;
    this.worker = this.grant = null;
    // Its memory is free when it has ended, not before.
    void worker?.terminate().then(() => grant?.release());
    if (error) this.settle((job) => job.reject(error));
  }

  private settle(tell: (job: Job) => void): void {
    const job = this.running;
    this.running = null;
    if (job) tell(job);
    if (!this.isClosed) void this.startNext();
  }

  private remember(key: string, parsed: ParsedSchema, chars: number): void {
    if (this.remembered.has(key)) return;
    this.remembered.set(key, { parsed, chars });
    this.rememberedChars += chars;
    for (const [oldest, entry] of this.remembered) {
      if (this.remembered.size <= MAX_REMEMBERED && this.rememberedChars <= MAX_REMEMBERED_CHARS) return;
      this.remembered.delete(oldest);
      this.rememberedChars -= entry.chars;
    }
  }
}

function keyOf({ text, file, variables, sha256 }: SchemaRequest): string {
  const rest = JSON.stringify([file, sha256 ?? '', Object.entries(variables)]);
  return createHash('sha256').update(`${rest.length} ${rest}`).update(text).digest('base64');
}
