/** Makes instructions, as they are handed out, of what was tracked. */
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from './cores.js';
import { type Instruction, InstructionEnd, type StageEntry } from './lifecycle.js';
import type { LiveStage, Tracked } from './tracked.js';
import { labelOf } from './tracker.js';

export class Finishing {
  /** Births before tracking began, once somebody needed them. */
  private base: Promise<bigint | null> | null = null;

  /** @param counting finds out `base`; null where it is not counted */
  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly from: bigint,
    private readonly counting: () => Promise<bigint | null>,
  ) {}

  /** What was tracked as instructions, without those that ended before the range. */
  async finish(tracked: readonly Tracked[]): Promise<Instruction[]> {
    const { strings } = this.trace;
    // Some writers flush without ever clearing: what was flushed before the range is no longer in flight either.
    const wanted = tracked.filter(({ endPs, flush }) => {
      const until = endPs ?? flush?.timePs;
      return until === undefined || until >= this.from;
    });
    const base = wanted.some(hasNumber) ? await this.numberBase() : null;
    await strings.load(new Set(wanted.flatMap(({ annotations }) => annotations.map((a) => a.string))));
    const result = wanted.map((one) => this.toInstruction(one, base));
    // The producers must not be kept alive by those who waited for them.
    for (const one of tracked) one.dependencies = [];
    return result;
  }

  private numberBase(): Promise<bigint | null> {
    this.base ??= this.counting();
    return this.base;
  }

  private toInstruction(tracked: Tracked, base: bigint | null): Instruction {
    const { id, bits, hasBits, isCompressed, thread, birthPs, stalls, flush, trap } = tracked;
    const { end, endPs, isAbridged } = tracked;
    const { strings } = this.trace;
    return {
      id,
      seq: seqOf(tracked, base),
      pc: pcOf(tracked),
      bits: hasBits ? bits >>> 0 : null,
      isCompressed,
      thread,
      birthPs,
      stages: tracked.stages.map((entered) => this.toEntry(entered)),
      stalls,
      annotations: tracked.annotations.map(({ timePs, string }) => ({
        timePs,
        text: strings.peek(string) ?? `#${string}`,
      })),
      dependencies: tracked.dependencies.map(({ timePs, on, producer, type }) => ({
        timePs,
        on,
        seq: producer && seqOf(producer, base),
        pc: producer && pcOf(producer),
        type,
      })),
      flush,
      trap,
      end: endPs === null ? InstructionEnd.IN_FLIGHT : end,
      endPs,
      isAbridged,
    };
  }

  private toEntry({ value, timeLo, timeHi }: LiveStage): StageEntry {
    const { core } = this;
    const stage = core.stageOf(value);
    const labels = core.events.get('stage_transition')?.fields.get('stage')?.labels ?? null;
    return {
      stage,
      name: core.stages[stage] ?? labelOf(labels, value),
      timePs: joined(timeHi, timeLo),
    };
  }
}

/** It, or whom it waited for, was seen being born: then a number is known. */
function hasNumber({ ordinal, dependencies }: Tracked): boolean {
  return ordinal >= 0 || dependencies.some(({ producer }) => producer !== null && producer.ordinal >= 0);
}

function seqOf({ ordinal }: Tracked, base: bigint | null): bigint | null {
  return base === null || ordinal < 0 ? null : base + BigInt(ordinal);
}

function pcOf({ hasPc, pcLo, pcHi }: Tracked): bigint | null {
  return hasPc ? joined(pcHi, pcLo) : null;
}

function joined(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}
