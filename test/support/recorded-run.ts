/** Traces of made-up pipelines with a counter and a buffer next to them, and their analysis: for the tests of the latter. */

import { FieldType, type Frame, type Schema } from '../../sdk/src/format/types.js';
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import { analyzePerformance, type PerformanceOptions } from '../../sdk/src/semantics/cpu/analysis/analyze.js';
import type { CoreReport } from '../../sdk/src/semantics/cpu/analysis/report.js';
import { add, clear, frame, set, TraceBuilder } from './build-trace.js';
import { type Model, modelSchema, PERIOD_PS, runModel, STAGES } from './pipeline-model.js';

export const COMMITTED = 1;
const ROB = 2;
export const ROB_SLOTS = 6;

/** One core of the model, with a buffer next to it. */
export function schemaWithBuffer(): Schema {
  const schema = modelSchema();
  const field = { name: 'entity_id', type: FieldType.U32, enumId: 0, role: 0, pairId: 0 };
  const rob = { name: 'rob', storageId: ROB, numSlots: ROB_SLOTS, flags: 3, scopeId: 1, fields: [field] };
  return { ...schema, storages: [...schema.storages, { ...rob, properties: [] }] };
}

export const dut = [['cpu.pipeline_stages', STAGES.join(',')]] as const;

export interface Recorded {
  readonly model: Model;
  /** Committed instructions added to the counter, by cycle. */
  readonly added: readonly number[];
  /** Slots of the buffer taken after each cycle. */
  readonly occupied: readonly number[];
  readonly frames: readonly Frame[];
}

/** A run of the model; a counter and a buffer, of which it knows nothing, change at random next to it. */
export function record(choose: (below: number) => number, cycles: number): Recorded {
  const model = runModel(choose, cycles);
  const byCycle = new Map(model.frames.map((one) => [Number(one.timePs) / PERIOD_PS, one]));
  const added: number[] = [];
  const occupied: number[] = [];
  const taken = new Set<number>();
  const frames: Frame[] = [];
  for (let cycle = 0; cycle < cycles; cycle++) {
    const items = [...(byCycle.get(cycle)?.items ?? [])];
    added.push(choose(4) === 0 ? choose(70_000) : 0);
    if (added[cycle]! > 0) items.push(add(COMMITTED, 0, 0, added[cycle]!));
    for (let i = choose(4); i > 0; i--) {
      const slot = choose(ROB_SLOTS);
      const isSet = choose(2) === 0;
      items.push(isSet ? set(ROB, slot, 0, choose(100)) : clear(ROB, slot));
      if (isSet) taken.add(slot);
      else taken.delete(slot);
    }
    occupied.push(taken.size);
    // The last cycle always has a frame: the trace ends with it.
    if (items.length > 0 || cycle === cycles - 1) frames.push(frame(cycle * PERIOD_PS, ...items));
  }
  return { model, added, occupied, frames };
}

export function build(frames: readonly Frame[], perSegment: number, interleaved = true): Uint8Array {
  const builder = new TraceBuilder({ schema: schemaWithBuffer(), dut, interleaved });
  for (let i = 0; i < frames.length; i += perSegment) {
    builder.segment({ frames: frames.slice(i, i + perSegment) });
  }
  return builder.finalize().bytes;
}

export async function analyze(bytes: Uint8Array, options: PerformanceOptions): Promise<CoreReport> {
  const trace = await openTrace(memorySource(bytes));
  const report = await analyzePerformance(trace, { unit: 'cycles', lookback: 1000, ...options });
  return report.cores[0]!;
}

/** A source of randomness that repeats itself. */
export function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}
