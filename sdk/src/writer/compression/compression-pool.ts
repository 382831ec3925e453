/**
 * Threads that compress, shared by all writers of the process. What they read and write lies in shared memory: nothing is copied on the
 * way there or back, and their garbage is not collected on the thread that encodes.
 */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { UscopeError } from '../../base/errors.js';
import { type Compressed, type Lz4Job, lz4Module } from '../../native/lz4.js';
import { NativePool } from './native-pool.js';

/** The thread that encodes needs a core of its own; more threads than this would only wait for the disk. */
const MAX_THREADS = 4;
/** Output buffers kept for reuse, together at most. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;
/** What a method adds to incompressible data, and more: LZ4 adds 1/255, ZSTD 1/256. */
const OVERHEAD_SHIFT = 6;
const OVERHEAD_BYTES = 1024;

export type PooledMethod = 'lz4' | 'zstd';

/**
 * Runs in a thread. Receives {id, method, level, raw, out} or, for LZ4 in a writer's memory, {id, memory, job}, and answers {id, size} (of a
 * block in a writer's memory also the CRC of it and of the prefix in front, while it is in the thread's cache) or {id, error}; {adopt: number, memory} and {forget: number} say which memory a number means. Plain text, so that it needs no file of its own.
 */
const THREAD_SOURCE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { crc32 } = require('node:zlib');
  const memories = new Map();
  const methods = {};
  let lz4Module = null;

  function adopt(number, memory) {
    lz4Module ??= new WebAssembly.Module(workerData.lz4Module);
    const { lz4_compress } = new WebAssembly.Instance(lz4Module, { env: { memory } }).exports;
    memories.set(number, { memory, lz4_compress });
  }
  function lz4() {
    const { compressSync } = require(workerData.lz4);
    return (raw) => compressSync(raw);
  }
  function zstd() {
    const { Compressor } = require(workerData.zstd);
    const compressor = new Compressor();
    return (raw, level) => {
      compressor.setParameters({ compressionLevel: level });
      return compressor.compress(raw);
    };
  }
  function compressInMemory(number, { table, source, size, target, prefix }) {
    const { memory, lz4_compress } = memories.get(number);
    const length = lz4_compress(table, source, size, target);
    const { buffer } = memory;
    // It may have grown without this thread having been told.
    const known = target + length <= buffer.byteLength;
    const crc = known ? crc32(new Uint8Array(buffer, target - prefix, prefix + length)) : undefined;
    return { size: length, crc };
  }
  function compress({ memory, job, method, level, raw, out }) {
    if (job) return compressInMemory(memory, job);
    methods[method] ??= method === 'lz4' ? lz4() : zstd();
    const result = methods[method](Buffer.from(raw.buffer, raw.byteOffset, raw.length), level);
    out.set(result);
    return { size: result.length };
  }
  parentPort.on('message', (message) => {
    if (message.adopt !== undefined) return adopt(message.adopt, message.memory);
    if (message.forget !== undefined) return memories.delete(message.forget);
    const { id } = message;
    try {
      parentPort.postMessage({ id, ...compress(message) });
    } catch (error) {
      parentPort.postMessage({ id, error: String(error) });
    }
  });
`;

interface Answer extends Partial<Compressed> {
  readonly id: number;
  readonly error?: string;
}

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

  run(job: object): Promise<Compressed> {
    this.worker ??= this.start();
    this.worker.ref();
    const id = this.nextId++;
    this.worker.postMessage({ id, ...job });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
    });
  }

  runInMemory(number: number, memory: WebAssembly.Memory, job: Lz4Job): Promise<Compressed> {
    this.worker ??= this.start();
    if (!this.adopted.has(number)) this.worker.postMessage({ adopt: number, memory });
    this.adopted.add(number);
    return this.run({ memory: number, job });
  }

  forget(number: number): void {
    if (this.adopted.delete(number)) this.worker?.postMessage({ forget: number });
  }

  private start(): Worker {
    const worker = new Worker(THREAD_SOURCE, {
      eval: true,
      execArgv: [], // a profiler of the process is not for its threads
      workerData: {
        lz4Module: lz4Module(),
        lz4: findModule('lz4-napi'),
        zstd: findModule('zstd-napi'),
      },
    });
    worker.on('message', (answer: Answer) => this.settle(answer));
    worker.on('error', (error) => this.fail(error));
    worker.on('exit', () => this.fail(new Error('it ended')));
    return worker;
  }

  private settle({ id, size, crc, error }: Answer): void {
    const waiter = this.waiting.get(id);
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.worker?.unref();
    if (size !== undefined) waiter?.resolve({ size, crc });
    else waiter?.reject(new UscopeError('WRITER_COMPRESSION', `compression failed: ${error}`));
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

/** Memories are told to a thread once, by number: with every job they would become another object there. */
const numbers = new WeakMap<WebAssembly.Memory, number>();
let nextNumber = 0;

let nativePool: NativePool | null | undefined;

/** Compresses a block inside a writer's memory. @throws UscopeError WRITER_COMPRESSION */
export function compressInMemory(memory: WebAssembly.Memory, job: Lz4Job): Promise<Compressed> {
  if (nativePool === undefined) nativePool = NativePool.open(NUM_THREADS);
  return nativePool ? nativePool.compress(memory, job) : compressInWorker(memory, job);
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

/** null when it is not installed; zstd-napi is optional. */
export function findModule(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}
