/** How many instructions were retired before a cycle, exactly; and which instruction was the nth to retire. */
import * as cpu from 'uscope/cpu';
import { BUCKET_CYCLES, ChannelKind } from 'uscope/trace-index';
import { lowerBound } from '../../model/blocks.js';
import type { Trace } from '../library.js';
import type { Question, QuestionContext } from './question.js';

interface RetiredArgs {
  /** Of the core shown. */
  readonly cycles: readonly number[];
}

/** For each cycle; null: the trace has no core. */
export const retired: Question<RetiredArgs, Float64Array | null> = async ({ cycles }, context, signal) => {
  const { core } = context;
  if (!core) return null;
  const counts = await countsOf(context, core);
  const found = new Float64Array(cycles.length);
  for (const [index, cycle] of cycles.entries()) {
    const bucket = Math.max(0, Math.floor(cycle / BUCKET_CYCLES));
    const start = bucket * BUCKET_CYCLES;
    const inBucket = cycle > start ? await retiredIn(context, core, start, cycle, signal) : [];
    found[index] = (await counts.before(bucket)) + inBucket.length;
  }
  return found;
};

/**
 * Row of the instruction that retired as number `number`, counted from 0 in the order of retirement; null: fewer retired. Where a core retires in
 * program order, that is the number of `retired:` too.
 */
export const rowOfRetired: Question<{ readonly number: number }, number | null> = async (
  { number },
  context,
  signal,
) => {
  const { core } = context;
  if (!core || !Number.isInteger(number) || number < 0) return null;
  const found = await (await countsOf(context, core)).beyond(number);
  if (!found) return null;
  const start = found.bucket * BUCKET_CYCLES;
  const rows = await retiredIn(context, core, start, start + BUCKET_CYCLES, signal);
  return rows[number - found.before] ?? null;
};

/** Rows of the instructions retired in `[from, to)`, in the order in which they retired. */
async function retiredIn(
  { trace, periodPs }: QuestionContext,
  core: cpu.CpuCore,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<number[]> {
  const found: { readonly endPs: bigint; readonly row: number }[] = [];
  const range = { from: BigInt(from), to: BigInt(to), unit: 'cycles' } as const;
  const options = { lookahead: 0, numbering: 'always', stages: 'range', signal } as const;
  for await (const { end, endPs, seq } of cpu.instructions(trace, core, range, options)) {
    if (end !== cpu.InstructionEnd.RETIRED || endPs === null) continue;
    const cycle = Number(endPs / periodPs);
    if (cycle >= from && cycle < to) found.push({ endPs, row: Number(seq ?? -1n) });
  }
  const later = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
  return found.sort((a, b) => later(a.endPs, b.endPs) || a.row - b.row).map(({ row }) => row);
}

/** Retired per 256 cycles. */
interface Counts {
  /** Sum of the buckets before one. */
  before(bucket: number): Promise<number>;
  /** The bucket in which the sum exceeds a number, and the sum before it. */
  beyond(number: number): Promise<{ readonly bucket: number; readonly before: number } | null>;
}

async function countsOf(context: QuestionContext, core: cpu.CpuCore): Promise<Counts> {
  const index = await context.index();
  const channel = index?.channels.find(
    ({ kind, name }) => kind === ChannelKind.RETIRED && name === core.name,
  );
  if (!index || !channel) return scanned(context, core);
  const finder = index.finder(channel);
  return {
    before: (bucket) => finder.sumBefore(bucket),
    beyond: (number) => finder.bucketBeyond(number),
  };
}

const known = new WeakMap<Trace, Map<string, Promise<Counts>>>();

/** Without an index the trace is read through, once for all who ask. */
function scanned({ trace, periodPs }: QuestionContext, core: cpu.CpuCore): Promise<Counts> {
  const ofTrace = known.get(trace) ?? new Map<string, Promise<Counts>>();
  known.set(trace, ofTrace);
  const before = ofTrace.get(core.name);
  if (before) return before;
  const counting = count(trace, core, periodPs);
  ofTrace.set(core.name, counting);
  // A repeated question tries again what failed.
  counting.catch(() => ofTrace.delete(core.name));
  return counting;
}

async function count(trace: Trace, core: cpu.CpuCore, periodPs: bigint): Promise<Counts> {
  const inBucket = new Map<number, number>();
  for await (const block of cpu.instructionBlocks(trace, core)) {
    const cycle = cpu.cyclesOf(block, periodPs);
    for (let row = 0; row < block.count; row++) {
      if (cpu.endOf(block, row) !== cpu.BlockEnd.RETIRED) continue;
      const bucket = Math.floor(cycle(cpu.endTick(block, row)) / BUCKET_CYCLES);
      inBucket.set(bucket, (inBucket.get(bucket) ?? 0) + 1);
    }
  }
  const buckets = Float64Array.from(inBucket.keys()).sort();
  /** Sums up to and with each of the buckets. */
  const sums = new Float64Array(buckets.length);
  buckets.forEach((bucket, index) => {
    sums[index] = (sums[index - 1] ?? 0) + inBucket.get(bucket)!;
  });
  return {
    before: async (bucket) => sums[lowerBound(buckets, bucket) - 1] ?? 0,
    beyond: async (number) => {
      const index = lowerBound(sums, number + 1);
      return index < sums.length ? { bucket: buckets[index]!, before: sums[index - 1] ?? 0 } : null;
    },
  };
}
