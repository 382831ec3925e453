/** Ticks of a block as cycles of the core's clock. Where its period is not known, cycles are picoseconds. */
import type { InstructionBlock } from '../../semantics/cpu/index.js';

export type CycleOfTick = (tick: number) => number;

export function cyclesOf(block: InstructionBlock, periodPs: bigint): CycleOfTick {
  const period = Number(periodPs > 0n ? periodPs : 1n);
  const { tickPs, baseTick } = block;
  if (tickPs === period) return (tick) => baseTick + tick;
  if (tickPs % period === 0) return (tick) => (baseTick + tick) * (tickPs / period);
  if (period % tickPs === 0) return (tick) => Math.floor((baseTick + tick) / (period / tickPs));
  return (tick) => Number((block.basePs + BigInt(tick) * BigInt(tickPs)) / BigInt(period));
}
