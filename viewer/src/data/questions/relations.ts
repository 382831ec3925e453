/** What one instruction is to others: which waited for it, and the how manieth it is of those that retired. */
import * as cpu from 'uscope/cpu';
import { ChannelKind } from 'uscope/trace-index';
import { birthsOf, type Question, type QuestionContext } from './question.js';

interface RelationsArgs {
  readonly row: number;
  /** Cycles of its fetch and of its end; null: the end of the trace. */
  readonly born: number;
  readonly end: number | null;
  readonly isRetired: boolean;
}

export interface RelationsAnswer {
  readonly row: number;
  /** Those that waited for it, at most 50. */
  readonly consumers: readonly { readonly row: number; readonly type: string; readonly cycle: number }[];
  /** Instructions that retired and were fetched before it; null: it did not retire, or the trace has no index to count by. */
  readonly retired: number | null;
}

const MAX_CONSUMERS = 50;
const BUCKET_CYCLES = 256;
/** Of one that is in flight for longer, the consumers of this time are listed. */
const MAX_CYCLES = 100_000;

export const relations: Question<RelationsArgs, RelationsAnswer> = async (args, context, signal) => {
  const { core } = context;
  if (!core?.entities) return { row: args.row, consumers: [], retired: null };
  const consumers = await consumersOf(args, context, core, signal);
  const retired = args.isRetired ? await retiredBefore(args, context, core, signal) : null;
  return { row: args.row, consumers, retired };
};

async function consumersOf(
  { row, born, end }: RelationsArgs,
  context: QuestionContext,
  core: cpu.CpuCore,
  signal: AbortSignal,
): Promise<RelationsAnswer['consumers']> {
  const { trace, periodPs } = context;
  const consumers: RelationsAnswer['consumers'][number][] = [];
  const last = Math.min(end ?? born + MAX_CYCLES, born + MAX_CYCLES);
  const range = { from: BigInt(born) * periodPs, to: BigInt(last + 1) * periodPs };
  const options = { signal, lookahead: 0, ...birthsOf(context) };
  const labels = core.events.get('dependency')?.fields.get('dep_type')?.labels;
  for await (const block of cpu.instructionBlocks(trace, core, range, options)) {
    const { dependencies, firstRow } = block;
    for (let at = 0; at < dependencies.row.length && consumers.length < MAX_CONSUMERS; at++) {
      // Rows with separate numbers name producers by number too: both count from the first row of the block.
      if (dependencies.producer[at] === cpu.NO_PRODUCER || firstRow + dependencies.producer[at]! !== row)
        continue;
      const type = dependencies.type?.[at];
      consumers.push({
        row: cpu.rowNumber(block, dependencies.row[at]!),
        type:
          type === undefined
            ? ''
            : (labels?.values.find(({ value }) => value === type)?.name ?? String(type)),
        cycle: Number(cpu.psOf(block, cpu.sideTick(block, dependencies, at)) / periodPs),
      });
    }
  }
  return consumers.sort((a, b) => a.cycle - b.cycle || a.row - b.row);
}

/** Those that ended before the bucket of its fetch are counted by the index, the others one by one. */
async function retiredBefore(
  { row, born }: RelationsArgs,
  context: QuestionContext,
  core: cpu.CpuCore,
  signal: AbortSignal,
): Promise<number | null> {
  const { trace, periodPs } = context;
  const index = context.indexNow();
  const channel = index?.channels.find(
    ({ kind, name }) => kind === ChannelKind.RETIRED && name === core.name,
  );
  if (!index || !channel || index.groupOf(channel).periodPs !== Number(periodPs)) return null;
  const bucket = Math.floor(born / BUCKET_CYCLES);
  const from = BigInt(bucket * BUCKET_CYCLES) * periodPs;
  let retired = await index.finder(channel).sumBefore(bucket);
  const range = { from, to: BigInt(born + 1) * periodPs };
  for await (const block of cpu.instructionBlocks(trace, core, range, {
    signal,
    stages: 'range',
    ...birthsOf(context),
  })) {
    for (let at = 0; at < block.count; at++) {
      const number = cpu.rowNumber(block, at);
      if (number < 0) return null;
      if (number >= row || cpu.endOf(block, at) !== cpu.BlockEnd.RETIRED) continue;
      if (cpu.psOf(block, cpu.endTick(block, at)) >= from) retired++;
    }
  }
  return retired;
}
