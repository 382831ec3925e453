/**
 * Several traces in one, in the order of time. At equal times the frames of an earlier input come first; each stays a separate frame, its
 * items as they are.
 */
import type { LoadedSegment } from '../../reader/index.js';
import { stateBefore, traceStart } from '../../reader/queries/state-before.js';
import { StorageState } from '../../state/storage-state.js';
import { FrameCopier } from '../../stream/frame-copier.js';
import { errorIn, FrameStream, ItemStream } from '../../stream/item-stream.js';
import { placeState } from '../../stream/place-state.js';
import { snapshotFinder } from '../../stream/snapshot-finder.js';
import { StringOutput, StringRemap } from '../../stream/string-remap.js';
import { endOf, type RewriteOptions, type TraceOutput, withOutput } from '../../stream/trace-output.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { smallInterval } from '../../writer/small.js';
import type { MergePlan } from './plan.js';

export type MergeOptions = RewriteOptions;

export interface MergedInput {
  readonly name: string;
  /** Its scope in the output. */
  readonly scope: string;
  readonly items: number;
  /** Ops on slots that no storage can have: left out. */
  readonly outOfRange: number;
  /** String references that name no string; they continue naming none. */
  readonly unresolvedStrings: number;
}

export interface MergeReport {
  readonly stats: TraceStats;
  readonly inputs: readonly MergedInput[];
  /** Strings cut at the writer's limit of 65,520 bytes. */
  readonly shortenedStrings: number;
}

/** An input on its way into the output. */
interface Lane {
  readonly stream: FrameStream;
  readonly copier: FrameCopier;
  readonly strings: StringRemap;
}

/**
 * Memory: a segment of each input and the one loaded ahead.
 * @throws UscopeError FORMAT_* for damage in an input, WRITER_*
 */
export async function mergeTraces(plan: MergePlan, options: MergeOptions): Promise<MergeReport> {
  const batch = new RecordBatch();
  const texts = new StringOutput(batch);
  const progress = progressOf(plan, options.onProgress);
  const lanes: Lane[] = [];
  for (const [index, { trace, file, overflow }] of plan.inputs.entries()) {
    const strings = new StringRemap(trace, texts);
    const finder = await snapshotFinder(trace, 0n).catch((error: unknown) => {
      throw errorIn(error, file);
    });
    const copier = new FrameCopier(overflow.schema, plan.maps[index].ids, strings, batch, finder);
    const prepare = async (segment: LoadedSegment): Promise<void> => {
      await copier.prepare(segment);
      progress();
    };
    lanes.push({ stream: new FrameStream(new ItemStream(trace), prepare, file), strings, copier });
  }
  // Fields never set hold 0: that must not name a string of some input.
  if (lanes.some(({ strings }) => strings.refs.inStorages)) texts.add('');
  const start = await startOf(plan, lanes);
  const stats = await withOutput(
    writerOptions(plan, options, start),
    batch,
    options.signal,
    async (output) => {
      try {
        await joinLanes(lanes, output);
      } finally {
        for (const { stream } of lanes) await stream.items.close();
      }
      options.onProgress?.(1);
      return output.finish(endOf(plan.inputs.map(({ trace }) => trace.session)));
    },
  );
  const inputs = plan.inputs.map(({ name, scope }, index) => {
    const { copier, strings } = lanes[index];
    const { copied: items, outOfRange } = copier;
    return { name, scope, items, outOfRange, unresolvedStrings: strings.unresolved };
  });
  return { stats, inputs, shortenedStrings: texts.shortened };
}

async function joinLanes(lanes: readonly Lane[], output: TraceOutput): Promise<void> {
  for (const { stream } of lanes) await stream.open();
  for (let next = earliest(lanes); next; next = earliest(lanes)) {
    const more = next.copier.copy(next.stream, output.frames++);
    if (output.isFull) await output.push();
    if (!more) await next.stream.advance();
  }
}

/** The first of those whose frame is the earliest. */
function earliest(lanes: readonly Lane[]): Lane | undefined {
  let best: Lane | undefined;
  let bestLo = 0;
  let bestHi = 0;
  for (const lane of lanes) {
    if (lane.stream.isDone) continue;
    const { timeLo, timeHi } = lane.stream.cursor;
    if (best && (timeHi > bestHi || (timeHi === bestHi && timeLo >= bestLo))) continue;
    best = lane;
    bestLo = timeLo;
    bestHi = timeHi;
  }
  return best;
}

function isEmpty({ cells, occupied }: StorageState): boolean {
  return occupied.every((count) => count === 0) && cells.every((word) => word === 0);
}

/** The first checkpoint: what each input began with, all from the earliest begin on. */
async function startOf({ inputs, maps, schema }: MergePlan, lanes: readonly Lane[]) {
  const state = new StorageState(schema);
  let timePs: bigint | null = null;
  for (const [index, { trace, file, overflow }] of inputs.entries()) {
    const own = await stateBefore(trace, 0n).catch((error: unknown) => {
      throw errorIn(error, file);
    });
    // What an empty state holds at 0 was never set.
    if (!isEmpty(own)) await lanes[index].strings.mapState(own);
    placeState(overflow.widen(own), state, maps[index].ids.storages);
    if (trace.segmentCount === 0) continue;
    const begin = await traceStart(trace);
    if (timePs === null || begin < timePs) timePs = begin;
  }
  return { timePs: timePs ?? 0n, checkpoint: state.encodeCheckpoint() };
}

function writerOptions(
  plan: MergePlan,
  options: MergeOptions,
  start: { timePs: bigint; checkpoint: Uint8Array },
) {
  const traces = plan.inputs.map(({ trace }) => trace);
  let longest = 0n;
  for (const { config } of traces) {
    if (config.checkpointIntervalPs > longest) longest = config.checkpointIntervalPs;
  }
  const interval = options.small ? smallInterval(longest) : longest;
  const [runId, ...others] = traces.map(({ session }) => session?.runId);
  const sameRun = runId && others.every((other) => other?.every((byte, i) => byte === runId[i]));
  return {
    path: options.path,
    schema: plan.schema,
    dut: plan.dut,
    checkpointIntervalPs: options.checkpointIntervalPs ?? (longest > 0n ? interval : undefined),
    compression: options.compression,
    small: options.small,
    summarizer: options.summarizer,
    index: options.index,
    runId: sameRun ? runId : undefined,
    start,
  };
}

function progressOf({ inputs }: MergePlan, notify: ((part: number) => void) | undefined): () => void {
  const total = inputs.reduce((sum, { trace }) => sum + trace.segmentCount, 0);
  let done = 0;
  return () => notify?.(Math.min(1, done++ / Math.max(1, total)));
}
