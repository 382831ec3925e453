/** Flight recorders as sinks of the daemon (docs/how-to/flight-recorder.md). */
import { resumeTrace } from '../../writer/index.js';
import { lockPath } from '../../writer/output/path-lock.js';
import { createRing, finishedRing, type RingOptions, resumeRing } from '../../writer/ring/index.js';
import type { SinkFactory } from './sink.js';
import { type TriggerPattern, triggerSource } from './trigger-pattern.js';

export interface RecorderOptions extends Omit<RingOptions, 'triggers'> {
  readonly triggers: readonly TriggerPattern[];
}

/** Every trace is one of a flight recorder; one that was begun as an ordinary file continues as such. */
export function ringSinks({ triggers, ...options }: RecorderOptions): SinkFactory {
  const ring: RingOptions = { ...options, triggers: triggerSource(triggers) };
  return {
    create: (writerOptions) => createRing(writerOptions, ring),
    resume: async (writerOptions) =>
      (await resumeRing(writerOptions, ring)) ??
      (await finishedRing(writerOptions)) ??
      (await resumeTrace(writerOptions)),
    lock: lockPath,
  };
}
