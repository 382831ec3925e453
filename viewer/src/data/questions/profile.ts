/**
 * The profile of a run: for each instruction of the program how often it retired, the cycles from the retirement before it to its
 * own, and the stalls of the core in them. The cycles of all instructions add up to those of the run up to the last retirement.
 */
import * as cpu from 'uscope/cpu';
import type { Question } from './question.js';

interface ProfileArgs {
  /** Cycles in which an instruction retires, `to` exclusive; null: the whole run. */
  readonly range: { readonly from: number; readonly to: number } | null;
}

/** A column for each value; an entry for each instruction of the program. */
export interface ProfileAnswer {
  readonly pcs: BigUint64Array;
  /** Disassembly; '': the trace has no machine code. */
  readonly texts: readonly string[];
  readonly counts: Float64Array;
  readonly cycles: Float64Array;
  /** Names of the reasons of stalls. */
  readonly reasons: readonly string[];
  /** Cycles with a stall: of each instruction one for each reason. */
  readonly stalls: Float64Array;
}

interface Cost {
  /** Of the first instruction there. */
  readonly bits: number | null;
  count: number;
  cycles: number;
  readonly stalls: Map<string, number>;
}

/** Of what is counted now, 0 to 1. */
let share = 0;

/** null: there is no core, or its clock is not known. */
export const profile: Question<ProfileArgs, ProfileAnswer | null> = async ({ range }, context, signal) => {
  const { trace, core, periodPs } = context;
  if (!core || core.periodPs === 0n) return null;
  share = 0;
  const bounds = range ? { from: BigInt(range.from) * periodPs, to: BigInt(range.to) * periodPs } : undefined;
  const end = Number(bounds?.to ?? trace.totalTimePs);
  const costs = new Map<bigint, Cost>();
  const stalls = new StallCursor(trace, core, bounds);
  let last = range?.from ?? 0;
  for await (const block of cpu.instructionBlocks(trace, core, bounds)) {
    signal.throwIfAborted();
    share = Number(block.basePs) / Math.max(1, end);
    const cycleOf = cpu.cyclesOf(block, periodPs);
    const { pcLo, pcHi, bits, known } = block.staticTable;
    for (let row = 0; row < block.count; row++) {
      if (cpu.endOf(block, row) !== cpu.BlockEnd.RETIRED) continue;
      const endTick = cpu.endTick(block, row);
      const cycle = cycleOf(endTick);
      if (range && (cycle < range.from || cycle >= range.to)) continue;
      const at = block.statics[row]!;
      if ((known[at]! & cpu.Known.PC) === 0) continue;
      const pc = (BigInt(pcHi[at]!) << 32n) | BigInt(pcLo[at]!);
      const cost = costOf(costs, pc, (known[at]! & cpu.Known.BITS) === 0 ? null : bits[at]!);
      cost.count++;
      cost.cycles += Math.max(0, cycle - last);
      // What retires is gone in the cycle of its end: stalls before it are its own.
      await stalls.takeBefore(cpu.psOf(block, endTick), cost.stalls);
      last = Math.max(last, cycle);
    }
  }
  await stalls.close();
  return columnsOf(core, costs);
};

/** How far the profile is that this worker counts. */
export const profileProgress: Question<null, number> = async () => share;

function costOf(costs: Map<bigint, Cost>, pc: bigint, bits: number | null): Cost {
  let cost = costs.get(pc);
  if (!cost) {
    cost = { bits, count: 0, cycles: 0, stalls: new Map() };
    costs.set(pc, cost);
  }
  return cost;
}

/** The stalls of a core in the order of time, each cycle and reason once. */
class StallCursor {
  private readonly source: AsyncGenerator<{ readonly timePs: bigint; readonly reason: string }> | null;
  private next: { readonly timePs: bigint; readonly reason: string } | null = null;
  private isOpen: boolean;
  private lastKey = '';

  constructor(
    trace: Parameters<typeof cpu.stalls>[0],
    core: cpu.CpuCore,
    bounds: { readonly from: bigint; readonly to: bigint } | undefined,
  ) {
    this.source = core.events.has('stall') ? cpu.stalls(trace, core, bounds) : null;
    this.isOpen = this.source !== null;
  }

  async takeBefore(timePs: bigint, into: Map<string, number>): Promise<void> {
    for (;;) {
      this.next ??= this.isOpen ? await this.read() : null;
      if (!this.next || this.next.timePs >= timePs) return;
      const { reason, timePs: at } = this.next;
      const key = `${at} ${reason}`;
      if (key !== this.lastKey) into.set(reason, (into.get(reason) ?? 0) + 1);
      this.lastKey = key;
      this.next = null;
    }
  }

  async close(): Promise<void> {
    await this.source?.return(undefined);
  }

  private async read(): Promise<StallCursor['next']> {
    const { value, done } = await this.source!.next();
    this.isOpen = done !== true;
    return value ?? null;
  }
}

function columnsOf(core: cpu.CpuCore, costs: ReadonlyMap<bigint, Cost>): ProfileAnswer {
  const reasons = [...new Set([...costs.values()].flatMap(({ stalls }) => [...stalls.keys()]))].sort();
  const all = [...costs];
  const stalls = new Float64Array(all.length * reasons.length);
  all.forEach(([, cost], index) => {
    reasons.forEach((reason, at) => {
      stalls[index * reasons.length + at] = cost.stalls.get(reason) ?? 0;
    });
  });
  return {
    pcs: BigUint64Array.from(all, ([pc]) => pc),
    texts: all.map(([pc, { bits }]) => cpu.instructionText(core, { pc, bits, annotations: [] })),
    counts: Float64Array.from(all, ([, { count }]) => count),
    cycles: Float64Array.from(all, ([, { cycles }]) => cycles),
    reasons,
    stalls,
  };
}
