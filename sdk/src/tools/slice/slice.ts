/**
 * A part of a trace as a separate trace: the state at its begin becomes the first checkpoint, the frames follow bit by bit, times stay
 * what they were.
 */
import type { Trace } from '../../reader/index.js';
import { stateBefore } from '../../reader/queries/state-before.js';
import { FrameCopier, identityMap } from '../../stream/frame-copier.js';
import { FrameStream, ItemStream } from '../../stream/item-stream.js';
import { findOverflow } from '../../stream/slot-overflow.js';
import { snapshotFinder } from '../../stream/snapshot-finder.js';
import { StringOutput, StringRemap } from '../../stream/string-remap.js';
import { endOf, type RewriteOptions, type TraceOutput, withOutput } from '../../stream/trace-output.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { smallInterval } from '../../writer/small.js';
import { planSlice, type SlicePlan } from './plan.js';
import { Redaction } from './redact/redaction.js';
import type { RedactionRules } from './redact/rules.js';

export interface SliceOptions extends RewriteOptions {
  /** Name of the trace that is cut, for the slice's properties. */
  readonly name: string;
  /** In ps, start inclusive, end exclusive; by default begin and end of the trace. */
  readonly from?: bigint | undefined;
  readonly to?: bigint | undefined;
  /** What may not be in the slice; by default everything may. */
  readonly redact?: RedactionRules | undefined;
}

export interface SliceReport {
  readonly stats: TraceStats;
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** What a user should know: storages that had to be made larger. */
  readonly notes: readonly string[];
  /** Ops on slots that no storage can have: left out. */
  readonly outOfRange: number;
  /** String references that name no string; they continue naming none. */
  readonly unresolvedStrings: number;
  /** What rules changed; null: there were none. */
  readonly redacted: { readonly texts: number; readonly values: number } | null;
  /** Strings cut at the writer's limit of 65,520 bytes. */
  readonly shortenedStrings: number;
}

/**
 * Strings are kept as far as the slice refers to them, renumbered in the order of their first use.
 * @throws UscopeError READER_RANGE, FORMAT_* for damage in the trace, WRITER_*, SCHEMA_LIMIT
 */
export async function sliceTrace(trace: Trace, options: SliceOptions): Promise<SliceReport> {
  const plan = await planSlice(trace, options.name, options);
  const batch = new RecordBatch();
  const texts = new StringOutput(batch);
  const overflow = await findOverflow(trace, plan.fromPs, plan.toPs);
  const redaction = options.redact ? new Redaction(overflow.schema, plan.dut, options.redact) : null;
  const schema = redaction?.schema ?? overflow.schema;
  const strings = new StringRemap(trace, texts, redaction && ((text) => redaction.text(text)));
  await strings.keepZero();
  const state = overflow.widen(await stateBefore(trace, plan.fromPs));
  redaction?.editState(state);
  await strings.mapState(state);
  const finder = await snapshotFinder(trace, plan.fromPs);
  const ids = redaction?.ids ?? identityMap(schema);
  const copier = new FrameCopier(overflow.schema, ids, strings, batch, finder, redaction);
  const checkpoint = (redaction?.placed(state) ?? state).encodeCheckpoint();
  const start = { timePs: plan.fromPs, checkpoint };
  const stats = await withOutput(
    { ...writerOptions(trace, plan, options), ...(redaction ? hidden(redaction) : {}), schema, start },
    batch,
    options.signal,
    async (output) => {
      await copyRange(trace, plan, { output, copier, onProgress: options.onProgress });
      // A file without a segment would have no state.
      if (output.frames === 0) {
        batch.begin(plan.fromPs);
        batch.end(0, output.frames++);
      }
      return output.finish(endOf([trace.session]));
    },
  );
  const { fromPs, toPs } = plan;
  return {
    stats,
    fromPs,
    toPs,
    notes: overflow.notes,
    redacted: redaction && { texts: redaction.changedTexts, values: redaction.changedValues },
    outOfRange: copier.outOfRange,
    unresolvedStrings: strings.unresolved,
    shortenedStrings: texts.shortened,
  };
}

function writerOptions(trace: Trace, plan: SlicePlan, options: SliceOptions) {
  const { session, config } = trace;
  const inherited = options.small ? smallInterval(config.checkpointIntervalPs) : config.checkpointIntervalPs;
  const interval = options.checkpointIntervalPs ?? inherited;
  return {
    path: options.path,
    dut: plan.dut,
    checkpointIntervalPs: interval > 0n ? interval : undefined,
    compression: options.compression,
    small: options.small,
    summarizer: options.summarizer,
    index: options.index,
    runId: session?.runId,
    coreIndex: session?.coreIndex,
  };
}

/** A run id would lead to the other traces of the run. */
const hidden = ({ dut }: Redaction) => ({ dut, runId: undefined });

interface Copy {
  readonly output: TraceOutput;
  readonly copier: FrameCopier;
  readonly onProgress: ((part: number) => void) | undefined;
}

async function copyRange(trace: Trace, { fromPs, toPs }: SlicePlan, copy: Copy): Promise<void> {
  const { output, copier, onProgress } = copy;
  const items = new ItemStream(trace, { from: fromPs, to: toPs });
  const span = Number(toPs - fromPs);
  const stream = new FrameStream(items, async (segment) => {
    await copier.prepare(segment);
    onProgress?.(Math.max(0, Number(segment.header.timeStartPs - fromPs)) / span);
  });
  try {
    await stream.open();
    while (!stream.isDone) {
      const more = copier.copy(stream, output.frames++);
      if (output.isFull) await output.push();
      if (!more) await stream.advance();
    }
    onProgress?.(1);
  } finally {
    await items.close();
  }
}
