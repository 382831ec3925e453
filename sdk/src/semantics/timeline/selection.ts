/** What of a trace is in a timeline. */

import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../cpu/cores.js';
import type { Instruction } from '../cpu/lifecycle.js';
import { type CoreStall, stalls } from '../cpu/searches.js';
import { type InstructionOptions, instructions } from '../instructions/instructions.js';

/** In cycles of the core's clock, start inclusive, end exclusive. */
export interface TimelineRange {
  readonly from: bigint;
  readonly to: bigint;
  /** Only instructions with these numbers, start inclusive, end exclusive; null: all. */
  readonly numbers: readonly [bigint, bigint] | null;
  /** The address that is looked for: its rows are marked. */
  readonly pc: bigint | null;
}

export async function* selected(
  trace: Trace,
  core: CpuCore,
  { from, to, numbers }: TimelineRange,
  stages: InstructionOptions['stages'] = 'all',
): AsyncGenerator<Instruction> {
  const numbering = numbers ? 'always' : 'cheap';
  const range = { from, to, unit: 'cycles' } as const;
  for await (const instruction of instructions(trace, core, range, { numbering, stages })) {
    if (numbers) {
      const { seq } = instruction;
      if (seq === null || seq < numbers[0]) continue;
      if (seq >= numbers[1]) return;
    }
    yield instruction;
  }
}

export function stallsOf(trace: Trace, core: CpuCore, { from, to }: TimelineRange): AsyncIterator<CoreStall> {
  return stalls(trace, core, { from, to, unit: 'cycles' });
}
