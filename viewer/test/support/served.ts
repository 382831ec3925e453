/** Bytes as the trace of a server, and the made-up pipeline as such bytes. */
import type { ServedTrace } from '../../../sdk/src/cli/view/server/server.js';
import { TraceBuilder } from '../../../test/support/build-trace.js';
import { type Model, modelSchema, PERIOD_PS } from '../../../test/support/pipeline-model.js';

const FRAMES_PER_SEGMENT = 300;

export const served = (bytes: Uint8Array, name = 'model.uscope'): ServedTrace => ({
  name,
  size: async () => bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
  version: async () => String(bytes.length),
});

/** @param strings instead of the model's */
export function traceOf(model: Model, strings: readonly string[] = model.strings): Uint8Array {
  const builder = new TraceBuilder({ schema: modelSchema() });
  for (let at = 0; at < model.frames.length; at += FRAMES_PER_SEGMENT) {
    const end = model.frames[at + FRAMES_PER_SEGMENT]?.timePs ?? BigInt((model.cycles - 1) * PERIOD_PS);
    const frames = model.frames.slice(at, at + FRAMES_PER_SEGMENT);
    builder.segment({ frames, end, strings: at === 0 ? [...strings] : [] });
  }
  return builder.finalize().bytes;
}

/** Numbers that are the same in every run. */
export function chooser(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}
