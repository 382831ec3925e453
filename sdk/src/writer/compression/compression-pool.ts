/**
 * Threads that compress, shared by all writers of the process. What they read and write lies in shared memory: nothing is copied on the
 * way there or back, and their garbage is not collected on the thread that encodes.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { UscopeError } from '../../base/errors.js';
import type { CompressionName } from '../../format/types.js';
import type { Compressed, Lz4Job } from '../../native/lz4.js';
import type { SegmentToIndex } from '../contract/segment-indexer.js';
import type { CompressionJob, PooledMethod, ThreadAnswer, ThreadRequest } from './compression-job.js';
import { NativePool } from './native-pool.js';

/** The thread that encodes needs its own core; more threads than this would only wait for the disk. */
const MAX_THREADS = 4;
/** Output buffers kept for reuse, together at most. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;
/** What a method adds to incompressible data, and more: LZ4 adds 1/255, ZSTD 1/256. */
const OVERHEAD_SHIFT = 6;
const OVERHEAD_BYTES = 1024;

/** Sources and what is built from them differ in this. */
const IS_SOURCE = import.meta.url.endsWith('.ts');
const THREAD = new URL(`./compression-thread.${IS_SOURCE ? 'ts' : 'js'}`, import.meta.url);

interface Waiter {
  resolve(result: Compressed): void;
  reject(error: Error): void;
}

/** One thread, started with its first job. It does not keep the process alive unless it has work. */
class CompressionThread {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiter>();
  private readonly adopted = new Set<number>();
  private nextId = 0;

  get load(): number {
    return this.waiting.size;
  }

  run(job: CompressionJob): Promise<Compressed> {
    this.worker ??= this.start();
    this.worker.ref();
    const id = this.nextId++;
    this.tell({ id, ...job });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
    });
  }

  runInMemory(number: number, memory: WebAssembly.Memory, job: Lz4Job): Promise<Compressed> {
    this.worker ??= this.start();
    if (!this.adopted.has(number)) this.tell({ adopt: number, memory });
    this.adopted.add(number);
    return this.run({ memory: number, job });
  }

  forget(number: number): void {
    if (this.adopted.delete(number)) this.tell({ forget: number });
  }

  private tell(request: ThreadRequest): void {
    this.worker?.postMessage(request);
  }

  private start(): Worker {
    // A profiler of the process is not for its threads; what reads sources is.
    const worker = new Worker(THREAD, IS_SOURCE ? {} : { execArgv: [] });
    worker.on('message', (answer: ThreadAnswer) => this.settle(answer));
    worker.on('error', (error) => this.fail(error));
    worker.on('exit', () => this.fail(new Error('it ended')));
    return worker;
  }

  private settle(answer: ThreadAnswer): void {
    const waiter = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (this.waiting.size === 0) this.worker?.unref();
    if ('size' in answer) waiter?.resolve({ size: answer.size, crc: answer.crc });
    else waiter?.reject(new UscopeError('WRITER_COMPRESSION', `compression failed: ${answer.error}`));
  }

  private fail(cause: unknown): void {
    this.worker = null;
    this.adopted.clear();
    for (const waiter of this.waiting.values()) {
      waiter.reject(new UscopeError('WRITER_COMPRESSION', 'a compression thread failed', {}, { cause }));
    }
    this.waiting.clear();
  }
}

const NUM_THREADS = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
const threads = Array.from({ length: NUM_THREADS }, () => new CompressionThread());
const free: SharedArrayBuffer[] = [];
let freeBytes = 0;

const leastLoaded = (): CompressionThread =>
  threads.reduce((least, other) => (other.load < least.load ? other : least));

/** A thread gets each memory once, with a number: sent with every job, it would become another object there. */
const numbers = new WeakMap<WebAssembly.Memory, number>();
let nextNumber = 0;

let opened: NativePool | null | undefined;

/** The addon's threads; null where there are none. */
export function nativePool(): NativePool | null {
  if (opened === undefined) opened = NativePool.open(NUM_THREADS);
  return opened;
}

/** Compresses a block inside a writer's memory. @throws UscopeError WRITER_COMPRESSION */
export function compressInMemory(memory: WebAssembly.Memory, job: Lz4Job): Promise<Compressed> {
  return nativePool()?.compress(memory, job) ?? compressInWorker(memory, job);
}

/** The same where there is no addon. */
export function compressInWorker(memory: WebAssembly.Memory, job: Lz4Job): Promise<Compressed> {
  const number = numbers.get(memory) ?? nextNumber++;
  numbers.set(memory, number);
  return leastLoaded().runInMemory(number, memory, job);
}

/** The writer is done: the threads need not hold its memory any longer. */
export function forgetMemory(memory: WebAssembly.Memory): void {
  const number = numbers.get(memory);
  if (number !== undefined) for (const thread of threads) thread.forget(number);
}

/**
 * Compresses `raw`, which must not change until the promise settles; it is not copied if it lies in shared memory. The result is to be handed to
 * `releaseCompressed` when it is no longer needed.
 * @throws UscopeError WRITER_COMPRESSION
 */
export async function compressInPool(
  method: PooledMethod,
  level: number,
  raw: Uint8Array,
): Promise<Uint8Array> {
  const out = takeBuffer(raw.length + (raw.length >>> OVERHEAD_SHIFT) + OVERHEAD_BYTES);
  const { size } = await leastLoaded().run({ method, level, raw, out });
  return out.subarray(0, size);
}

/**
 * Decompresses `blob` to `rawSize` bytes.
 * @throws UscopeError WRITER_COMPRESSION when that cannot be done, for whatever reason
 */
export async function decompressInPool(
  name: CompressionName,
  blob: Uint8Array,
  rawSize: number,
): Promise<Uint8Array> {
  const shared = new Uint8Array(new SharedArrayBuffer(blob.length)); // the blob may be a small part of what would be copied with it
  shared.set(blob);
  const out = new Uint8Array(new SharedArrayBuffer(rawSize));
  await leastLoaded().run({ decompress: name, blob: shared, out });
  return out;
}

export function releaseCompressed({ buffer }: Uint8Array): void {
  if (!(buffer instanceof SharedArrayBuffer) || freeBytes + buffer.byteLength > MAX_FREE_BYTES) return;
  free.push(buffer);
  freeBytes += buffer.byteLength;
}

function takeBuffer(size: number): Uint8Array {
  const fitting = free.findIndex((buffer) => buffer.byteLength >= size);
  if (fitting < 0) return new Uint8Array(new SharedArrayBuffer(size));
  const [buffer] = free.splice(fitting, 1);
  freeBytes -= buffer.byteLength;
  return new Uint8Array(buffer);
}

/** Makes the containers of one trace's segments, in their order. Never rejects. */
export type PooledIndexer = (segment: SegmentToIndex) => Promise<Uint8Array | null>;

/**
 * @param plan its words and their CRC: see trace-index/plan-words.ts
 * @param carry null: not known
 * @returns null where there is no addon, or the schema is too large for an index
 */
export function openPooledIndexer(
  plan: { readonly words: Uint32Array; readonly crc: number },
  carry: Uint8Array | null,
): PooledIndexer | null {
  return nativePool()?.openIndexer(plan.words, plan.crc, carry) ?? null;
}
