/** Adds up what the index of a whole trace says: for tests, which compare it with what scans count. */
import { type LoadedSegment, memorySource, openTrace, type Trace } from '../../sdk/src/reader/index.js';
import {
  type Channel,
  ChannelKind,
  decodeOccupancyPart,
  decodeTimePart,
  IndexPart,
  type IndexPartBytes,
  type IndexPlan,
  indexPlan,
} from '../../sdk/src/trace-index/index.js';
import { FIRST } from '../../sdk/src/trace-index/pass/index-pass.js';
import { oraclePass, type PassResult } from '../oracle/index/index-pass.js';
import {
  CarrySection,
  decodeCarry,
  decodeTimeCarry,
  occupancyStorages,
  type TimeCarry,
} from '../oracle/index/time-carry.js';

export type Pass = (plan: IndexPlan, segment: LoadedSegment, carry: Uint8Array | null) => PassResult;

export interface Indexed {
  readonly trace: Trace;
  readonly plan: IndexPlan;
  readonly results: readonly PassResult[];
}

/** The index of every segment, each made with the carry of the one before. */
export async function indexOf(bytes: Uint8Array, pass: Pass = oraclePass): Promise<Indexed> {
  const trace = await openTrace(memorySource(bytes));
  const plan = indexPlan(trace.schema, trace.dut);
  const results: PassResult[] = [];
  for (let index = 0; index < trace.segmentCount; index++) {
    const before = results.at(-1)?.carry ?? FIRST;
    results.push(pass(plan, await trace.loadSegment(index), before));
  }
  return { trace, plan, results };
}

export function partsOf({ results }: Indexed, kind: number, subject: number): IndexPartBytes[] {
  return results.flatMap(({ parts }) =>
    parts.filter((part) => part.kind === kind && part.subject === subject),
  );
}

/** The carry behind the last segment. */
export function lastCarry({ results, plan }: Indexed): TimeCarry {
  const sections = decodeCarry(results.at(-1)!.carry);
  return decodeTimeCarry(sections.get(CarrySection.TIME)!, plan);
}

/** The channels of a kind, in all groups, with their group. */
export function channelsOf({ plan }: Indexed, kind: ChannelKind): { group: number; channel: Channel }[] {
  return plan.groups.flatMap(({ channels, index }) =>
    channels.filter((channel) => channel.kind === kind).map((channel) => ({ group: index, channel })),
  );
}

/** Sum of a column over all buckets of all segments. */
export function sumOf(indexed: Indexed, group: number, column: number): number {
  const parts = partsOf(indexed, IndexPart.TIME, group).map(({ bytes }) =>
    decodeTimePart(bytes, indexed.plan.groups[group]!),
  );
  return parts.reduce((sum, { columns }) => sum + columns[column]!.reduce((a, b) => a + b, 0), 0);
}

/** By label of a channel of which the first column is for all: what is not zero. */
export function byLabel(
  indexed: Indexed,
  group: number,
  { labels, column }: Channel,
): Record<string, number> {
  const entries = (labels?.names ?? []).map((name, index) => {
    return [name, sumOf(indexed, group, column + 1 + index)] as const;
  });
  return Object.fromEntries(entries.filter(([, sum]) => sum !== 0));
}

/** For how many ps a storage held how many, up to `endPs`. */
export function occupancyOf(indexed: Indexed, storageId: number, endPs: bigint): bigint[] {
  const { plan } = indexed;
  const { group } = channelsOf(indexed, ChannelKind.OCCUPANCY).find(
    ({ channel }) => channel.subject === storageId,
  )!;
  const histogram = new Array<bigint>(plan.schema.storages[storageId]!.numSlots + 1).fill(0n);
  for (const { bytes } of partsOf(indexed, IndexPart.OCCUPANCY, group)) {
    const { histograms, unitPs } = decodeOccupancyPart(bytes, plan.groups[group]!);
    const { counts, times } = histograms.find((one) => one.storageId === storageId)!;
    counts.forEach((count, index) => {
      histogram[count]! += BigInt(times[index]! * unitPs);
    });
  }
  const { lastPs, occupied } = lastCarry(indexed);
  const { count } = occupied[occupancyStorages(plan).findIndex((def) => def.storageId === storageId)]!;
  if (endPs > lastPs) histogram[count]! += endPs - lastPs;
  return histogram;
}
