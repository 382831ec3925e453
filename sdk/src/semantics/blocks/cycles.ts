/** Ticks of a block as cycles of the core's clock. */
import type { InstructionBlock } from './block.js';

export type CycleOfTick = (tick: number) => number;

/** Exact below 2^53 cycles. @param periodPs 0n: it is not known, cycles are picoseconds */
export function cyclesOf({ tickPs, basePs }: InstructionBlock, periodPs: bigint): CycleOfTick {
  const period = periodPs > 0n ? periodPs : 1n;
  const first = Number(basePs / period);
  const rest = basePs % period;
  const ps = Number(period);
  if (tickPs % ps === 0 && rest === 0n) return (tick) => first + tick * (tickPs / ps);
  const offset = Number(rest);
  if (ps % tickPs === 0 && offset % tickPs === 0) {
    const [ticks, before] = [ps / tickPs, offset / tickPs];
    return (tick) => first + Math.floor((before + tick) / ticks);
  }
  return (tick) => Number((basePs + BigInt(tick) * BigInt(tickPs)) / period);
}
