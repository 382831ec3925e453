/** Runs in a thread of the pool (compression-pool.ts): compresses one block after the other. */
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { crc32 } from '#platform/crc32';
import { zstdPackage } from '#platform/zstd';
import type { CompressionName } from '../../format/types.js';
import type { Lz4Compress } from '../../native/kernel-exports.js';
import type { Compressed, Lz4Job } from '../../native/lz4.js';
import { bindWasmLz4 } from '../../native/lz4.js';
import type { CompressionJob, PooledMethod, ThreadAnswer, ThreadRequest } from './compression-job.js';
import { decompressNow } from './decompress.js';

/** Returns the size of the result in `out`. */
type Method = (raw: Uint8Array, level: number, out: Uint8Array) => number;

interface Adopted {
  readonly memory: WebAssembly.Memory;
  readonly compress: Lz4Compress;
}

const memories = new Map<number, Adopted>();
const methods = new Map<PooledMethod, Method>();

parentPort?.on('message', (request: ThreadRequest) => {
  if ('adopt' in request) adopt(request.adopt, request.memory);
  else if ('forget' in request) memories.delete(request.forget);
  else parentPort?.postMessage(answer(request.id, request));
});

function adopt(number: number, memory: WebAssembly.Memory): void {
  memories.set(number, { memory, compress: bindWasmLz4(memory) });
}

function answer(id: number, job: CompressionJob): ThreadAnswer {
  try {
    if ('decompress' in job) return { id, size: decompressInto(job.out, job.decompress, job.blob) };
    return { id, ...('job' in job ? compressInMemory(job.memory, job.job) : compressBytes(job)) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

/** With the CRC of the block and of the prefix in front, while they are in the thread's cache. */
function compressInMemory(number: number, { table, source, size, target, prefix }: Lz4Job): Compressed {
  const adopted = memories.get(number);
  if (!adopted) throw new Error(`there is no memory ${number}`);
  const length = adopted.compress(table, source, size, target);
  const { buffer } = adopted.memory;
  // The memory may have grown, which this thread learns late: then the writer computes the CRC.
  const isVisible = target + length <= buffer.byteLength;
  const crc = isVisible ? crc32(new Uint8Array(buffer, target - prefix, prefix + length)) : undefined;
  return { size: length, crc };
}

function compressBytes({
  method,
  level,
  raw,
  out,
}: Extract<CompressionJob, { raw: Uint8Array }>): Compressed {
  let compress = methods.get(method);
  if (!compress) {
    compress = method === 'lz4' ? lz4() : zstd();
    methods.set(method, compress);
  }
  return { size: compress(raw, level, out) };
}

function decompressInto(out: Uint8Array, name: CompressionName, blob: Uint8Array): number {
  out.set(decompressNow(name, blob, out.length));
  return out.length;
}

/** Loaded when it is first needed: few threads ever are asked for it. */
function lz4(): Method {
  const { compressSync } = createRequire(import.meta.url)('lz4-napi') as typeof import('lz4-napi');
  return (raw, _, out) => {
    const block = compressSync(Buffer.from(raw.buffer, raw.byteOffset, raw.length));
    out.set(block);
    return block.length;
  };
}

function zstd(): Method {
  const native = zstdPackage();
  if (!native) throw new Error('zstd-napi is not installed');
  const context = new native.CCtx();
  return (raw, level, out) => context.compress(out, raw, level);
}
