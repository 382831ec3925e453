// @ts-check
/** LZ4 alone on the very bytes a trace holds: how fast any writer that compresses them on one thread can be. */
import lz4 from 'lz4-napi';
import { openTraceFile } from 'uscope/reader/node';

/**
 * @param {string} path of a finished trace
 * @returns {Promise<{seconds: number, rawBytes: number}>}
 */
export async function measureLz4(path) {
  const trace = await openTraceFile(path);
  let seconds = 0;
  let rawBytes = 0;
  for await (const { deltas } of trace.loadedSegments()) {
    const raw = Buffer.from(deltas.buffer, deltas.byteOffset, deltas.byteLength);
    const start = performance.now();
    lz4.compressSync(raw);
    seconds += (performance.now() - start) / 1000;
    rawBytes += raw.length;
  }
  await trace.close();
  return { seconds, rawBytes };
}
