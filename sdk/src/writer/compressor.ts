/**
 * Compression of delta blobs off the main thread (§8.6.7): LZ4 on the thread pool, ZSTD on the thread pool where Node has it (22.15 and
 * later), else on a worker thread through the optional package zstd-napi.
 */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import * as zlib from 'node:zlib';
import { compress as lz4Compress } from 'lz4-napi';
import { UscopeError } from '../base/errors.js';
import { decompressLz4Blob } from '../format/compression.js';
import type { CompressionName } from '../format/types.js';

export interface Compressor {
  readonly name: CompressionName;
  /** Compresses one blob as it stands in a segment. The bytes must not change until the promise settles. */
  compress(raw: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** @throws UscopeError WRITER_COMPRESSION when the method is not available on this installation. */
export function createCompressor(name: CompressionName, level = 1): Compressor {
  if (name === 'none') return { name, compress: async (raw) => raw.slice(), close: async () => {} };
  if (name === 'lz4') return { name, compress: compressLz4, close: async () => {} };
  if (name === 'zstd') return createZstd(level);
  throw new UscopeError('WRITER_COMPRESSION', `"${name}" is not a compression; choose lz4, zstd or none`);
}

/** lz4-napi prepends the raw size as u32, which is the framing µScope files use. */
function compressLz4(raw: Uint8Array): Promise<Uint8Array> {
  return inTurn(() => lz4Compress(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)));
}

/**
 * Compressions under way at a time, in all traces of the process together: with more of them than cores the thread that encodes, for
 * which everything waits, would get its share of the processor only. One waits behind each that runs, so that none idles until this
 * thread comes round.
 */
const MAX_RUNNING = Math.max(2, availableParallelism());
const queue: (() => void)[] = [];
let running = 0;

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) await new Promise<void>((resolve) => queue.push(resolve));
  running++;
  try {
    return await work();
  } finally {
    running--;
    queue.shift()?.();
  }
}

/**
 * The raw deltas of a segment of our own.
 * @throws UscopeError FORMAT_COMPRESSION when the blob does not decompress to `rawSize` bytes, WRITER_COMPRESSION without ZSTD.
 */
export async function decompress(
  name: CompressionName,
  blob: Uint8Array,
  rawSize: number,
): Promise<Uint8Array> {
  if (name === 'lz4') return decompressLz4Blob(blob, rawSize);
  const raw = name === 'none' ? blob : zstdDecompress(blob);
  if (raw.length === rawSize) return raw;
  throw new UscopeError(
    'FORMAT_COMPRESSION',
    `deltas of ${raw.length} bytes where the segment header promises ${rawSize}`,
  );
}

function zstdDecompress(blob: Uint8Array): Uint8Array {
  const native = (zlib as unknown as { zstdDecompressSync?: (data: Uint8Array) => Uint8Array })
    .zstdDecompressSync;
  if (native) return native(blob);
  const { decompress } = createRequire(import.meta.url)(findZstdModule()) as {
    decompress(data: Uint8Array): Uint8Array;
  };
  return decompress(blob);
}

type ZstdCompress = (
  raw: Uint8Array,
  options: object,
  done: (error: Error | null, result: Uint8Array) => void,
) => void;

function createZstd(level: number): Compressor {
  const native = (zlib as unknown as { zstdCompress?: ZstdCompress }).zstdCompress;
  return native ? nativeZstd(native, level) : new ZstdWorker(level);
}

function nativeZstd(zstdCompress: ZstdCompress, level: number): Compressor {
  const constants = zlib.constants as unknown as { ZSTD_c_compressionLevel: number };
  const options = { params: { [constants.ZSTD_c_compressionLevel]: level } };
  return {
    name: 'zstd',
    compress: (raw) =>
      new Promise((resolve, reject) => {
        zstdCompress(raw, options, (error, result) => (error ? reject(error) : resolve(result)));
      }),
    close: async () => {},
  };
}

/** Runs in the worker: receives {id, raw}, answers {id, result} or {id, error}. Plain text, so that it needs no file of its own. */
const WORKER_SOURCE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { Compressor } = require(workerData.module);
  const compressor = new Compressor();
  compressor.setParameters({ compressionLevel: workerData.level });
  parentPort.on('message', ({ id, raw }) => {
    try {
      const result = compressor.compress(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength));
      parentPort.postMessage({ id, result });
    } catch (error) {
      parentPort.postMessage({ id, error: String(error) });
    }
  });
`;

interface WorkerAnswer {
  readonly id: number;
  readonly result?: Uint8Array;
  readonly error?: string;
}

class ZstdWorker implements Compressor {
  readonly name = 'zstd';
  private readonly worker: Worker;
  private readonly waiting = new Map<
    number,
    { resolve(result: Uint8Array): void; reject(error: Error): void }
  >();
  private nextId = 0;

  constructor(level: number) {
    this.worker = new Worker(WORKER_SOURCE, { eval: true, workerData: { module: findZstdModule(), level } });
    this.worker.on('message', (answer: WorkerAnswer) => this.settle(answer));
    this.worker.on('error', (error) => this.failAll(error));
    this.worker.unref();
  }

  compress(raw: Uint8Array): Promise<Uint8Array> {
    const id = this.nextId++;
    this.worker.ref();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, raw });
    });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private settle(answer: WorkerAnswer): void {
    const waiter = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (this.waiting.size === 0) this.worker.unref();
    if (answer.result) waiter?.resolve(answer.result);
    else waiter?.reject(new UscopeError('WRITER_COMPRESSION', `zstd failed: ${answer.error}`));
  }

  private failAll(cause: unknown): void {
    for (const waiter of this.waiting.values()) {
      waiter.reject(new UscopeError('WRITER_COMPRESSION', 'the zstd worker thread failed', {}, { cause }));
    }
    this.waiting.clear();
  }
}

function findZstdModule(): string {
  try {
    return createRequire(import.meta.url).resolve('zstd-napi');
  } catch (cause) {
    const detail =
      'zstd needs the optional package zstd-napi (npm install zstd-napi) or Node 22.15; or use lz4';
    throw new UscopeError('WRITER_COMPRESSION', detail, {}, { cause });
  }
}
