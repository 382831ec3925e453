/** The timeline for programs: one object per instruction. Cycles and other 64-bit integers are decimal strings. */
import type { CpuCore } from '../../semantics/cpu/cores.js';
import { instructionText } from '../../semantics/cpu/instruction-text.js';
import type { Instruction } from '../../semantics/cpu/lifecycle.js';

/** @param more members in front */
export function instructionJson(core: CpuCore, instruction: Instruction, more: object = {}): string {
  const { id, seq, pc, bits, birthPs, flush, trap, end, endPs } = instruction;
  const cycle = (timePs: bigint): string => (timePs / core.periodPs).toString();
  const maybe = (value: bigint | null): string | null => value?.toString() ?? null;
  return JSON.stringify({
    ...more,
    core: core.name,
    seq: maybe(seq),
    id,
    pc: maybe(pc),
    bits: bits?.toString() ?? null,
    text: instructionText(core, instruction),
    born: birthPs === null ? null : cycle(birthPs),
    stages: stageSpans(instruction).map(({ stage, from, to }) => ({
      stage,
      from: cycle(from),
      to: to === null ? null : cycle(to),
    })),
    end: { kind: end, cycle: endPs === null ? null : cycle(endPs) },
    flush: flush && { reason: flush.reason, cycle: cycle(flush.timePs) },
    trap: trap && {
      cause: maybe(trap.cause),
      tval: maybe(trap.tval),
      target: maybe(trap.target),
      cycle: cycle(trap.timePs),
    },
    stalls: instruction.stalls.map(({ reason, timePs }) => ({ reason, cycle: cycle(timePs) })),
    dependencies: instruction.dependencies.map((dependency) => ({
      on: maybe(dependency.seq),
      id: dependency.on,
      pc: maybe(dependency.pc),
      type: dependency.type,
      cycle: cycle(dependency.timePs),
    })),
    annotations: instruction.annotations.map(({ text, kind, timePs }) => ({
      text,
      ...(kind === null ? {} : { kind }),
      cycle: cycle(timePs),
    })),
  });
}

/** A stage lasts until the next, the flush or the end; `to` null: it has not been left. */
function stageSpans({ stages, flush, endPs }: Instruction): {
  stage: string;
  from: bigint;
  to: bigint | null;
}[] {
  const over = flush?.timePs ?? endPs;
  return stages.map(({ name, timePs }, index) => ({
    stage: name,
    from: timePs,
    to: stages[index + 1]?.timePs ?? (over === null ? null : later(over, timePs)),
  }));
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
