/**
 * Threads that compress, shared by all writers of the process. What they read and write lies in shared memory: nothing is copied on the
 * way there or back, and their garbage is not collected on the thread that encodes.
 */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { UscopeError } from '../base/errors.js';
import { WASM_BASE64 } from './kernel/lz4-wasm.js';

/** The thread that encodes needs a core of its own; more threads than this would only wait for the disk. */
const MAX_THREADS = 4;
/** Output buffers kept for reuse, together at most. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;
/** What a method adds to incompressible data, and more: LZ4 adds 1/255, ZSTD 1/256. */
const OVERHEAD_SHIFT = 6;
const OVERHEAD_BYTES = 1024;

export type PooledMethod = 'lz4' | 'zstd';

/**
 * Runs in a thread: receives {id, method, level, raw, out}, answers {id, size} or {id, error}. Plain text, so that it needs no file of its own.
 * LZ4 is compiled from sdk/kernel/lz4.c: half the time of lz4-napi, which does it where there is no WebAssembly, and smaller blobs. Its
 * memory holds a table, the input and the output.
 */
const THREAD_SOURCE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const PAGE = 65536, TABLE = 65536, INPUT = 2 * 65536, SLACK = 64, PREFIX = 4;
  const bound = (size) => size + Math.floor(size / 255) + 16;
  const methods = {};
  let capacity = 0, bytes, compress;

  function reserve(size) {
    if (size <= capacity) return;
    capacity = Math.max(size, 2 * capacity, 1 << 21);
    const pages = Math.ceil((INPUT + capacity + bound(capacity) + 2 * SLACK) / PAGE);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const module = new WebAssembly.Module(workerData.lz4Kernel);
    compress = new WebAssembly.Instance(module, { env: { memory } }).exports.lz4_compress;
    bytes = new Uint8Array(memory.buffer);
  }
  function compiledLz4() {
    return (raw, level, out) => {
      reserve(raw.length);
      bytes.set(raw, INPUT);
      const target = INPUT + capacity + SLACK;
      const size = compress(TABLE, INPUT, raw.length, target);
      new DataView(out.buffer, out.byteOffset).setUint32(0, raw.length, true);
      out.set(bytes.subarray(target, target + size), PREFIX);
      return PREFIX + size;
    };
  }
  function nativeLz4() {
    const { compressSync } = require(workerData.lz4);
    return (raw, level, out) => copy(compressSync(Buffer.from(raw.buffer, raw.byteOffset, raw.length)), out);
  }
  function zstd() {
    const { Compressor } = require(workerData.zstd);
    const compressor = new Compressor();
    return (raw, level, out) => {
      compressor.setParameters({ compressionLevel: level });
      return copy(compressor.compress(Buffer.from(raw.buffer, raw.byteOffset, raw.length)), out);
    };
  }
  function copy(result, out) {
    out.set(result);
    return result.length;
  }
  function make(method) {
    if (method === 'zstd') return zstd();
    return 'WebAssembly' in globalThis ? compiledLz4() : nativeLz4();
  }
  parentPort.on('message', ({ id, method, level, raw, out }) => {
    try {
      methods[method] ??= make(method);
      parentPort.postMessage({ id, size: methods[method](raw, level, out) });
    } catch (error) {
      parentPort.postMessage({ id, error: String(error) });
    }
  });
`;

interface Answer {
  readonly id: number;
  readonly size?: number;
  readonly error?: string;
}

interface Waiter {
  readonly out: Uint8Array;
  resolve(result: Uint8Array): void;
  reject(error: Error): void;
}

/** One thread, started with its first job. It does not keep the process alive unless it has work. */
class CompressionThread {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiter>();
  private nextId = 0;

  get load(): number {
    return this.waiting.size;
  }

  run(method: PooledMethod, level: number, raw: Uint8Array, out: Uint8Array): Promise<Uint8Array> {
    this.worker ??= this.start();
    this.worker.ref();
    const id = this.nextId++;
    this.worker.postMessage({ id, method, level, raw, out });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { out, resolve, reject });
    });
  }

  private start(): Worker {
    const worker = new Worker(THREAD_SOURCE, {
      eval: true,
      execArgv: [], // a profiler of the process is not for its threads
      workerData: {
        lz4Kernel: Buffer.from(WASM_BASE64, 'base64'),
        lz4: findModule('lz4-napi'),
        zstd: findModule('zstd-napi'),
      },
    });
    worker.on('message', (answer: Answer) => this.settle(answer));
    worker.on('error', (error) => this.fail(error));
    worker.on('exit', () => this.fail(new Error('it ended')));
    return worker;
  }

  private settle({ id, size, error }: Answer): void {
    const waiter = this.waiting.get(id);
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.worker?.unref();
    if (size !== undefined) waiter?.resolve(waiter.out.subarray(0, size));
    else waiter?.reject(new UscopeError('WRITER_COMPRESSION', `compression failed: ${error}`));
  }

  private fail(cause: unknown): void {
    this.worker = null;
    for (const waiter of this.waiting.values()) {
      waiter.reject(new UscopeError('WRITER_COMPRESSION', 'a compression thread failed', {}, { cause }));
    }
    this.waiting.clear();
  }
}

const threads = Array.from(
  { length: Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1)) },
  () => new CompressionThread(),
);
const free: SharedArrayBuffer[] = [];
let freeBytes = 0;

/**
 * Compresses `raw`, which must not change until the promise settles; it is not copied if it lies in shared memory. The result is to be handed to
 * `releaseCompressed` when it is no longer needed.
 * @throws UscopeError WRITER_COMPRESSION
 */
export function compressInPool(method: PooledMethod, level: number, raw: Uint8Array): Promise<Uint8Array> {
  const out = takeBuffer(raw.length + (raw.length >>> OVERHEAD_SHIFT) + OVERHEAD_BYTES);
  const thread = threads.reduce((least, other) => (other.load < least.load ? other : least));
  return thread.run(method, level, raw, out);
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
