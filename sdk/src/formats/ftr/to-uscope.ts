/**
 * FTR to µScope: transactions, attributes and relations as events, in the order of time. The file is read for its declarations first, then for
 * its transactions, which are sorted; where they do not fit into memory, on disk.
 */

import { SessionStatus } from '../../format/session-chunk.js';
import type { DutProperties } from '../../format/types.js';
import { withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { temporaryName } from '../../writer/output/atomic-file.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { Collector } from './collector.js';
import { Emission } from './emission.js';
import { buildEventSchema, Property, SHORT_RELATIONS } from './event-schema.js';
import { FtrPasses } from './passes.js';
import type { FtrFile } from './reader.js';
import { ExternalSorter } from './sorter.js';
import { PS_EXPONENT, TimeScale, type TimeUnit } from './time-scale.js';

/** About as many bytes of a file as become an item of the trace: their number is known before the second pass. */
const BYTES_PER_ITEM = 8;

export interface FtrImport {
  readonly stats: TraceStats;
  /** The file was cut: what came before is in the trace. */
  readonly isPartial: boolean;
}

export interface FtrImportOptions {
  readonly unit: TimeUnit;
  /** Words of memory for sorting; for tests. */
  readonly sortWords?: number | undefined;
}

/** In which form the file had its content, so that it comes back in it. */
function formOf(isPlain: boolean, areRelationsShort: boolean): DutProperties {
  return [
    ...(isPlain ? [[Property.COMPRESSION, 'none'] as const] : []),
    ...(areRelationsShort ? [[Property.RELATIONS, SHORT_RELATIONS] as const] : []),
  ];
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function ftrToUscope(
  file: FtrFile,
  target: TraceTarget,
  context: ConversionContext,
  options: FtrImportOptions,
): Promise<FtrImport> {
  const source = new FtrPasses(file, context);
  const { model, hasRelations, lastTick, isPlain, areRelationsShort } = await source.declarations();
  const scale = new TimeScale(options.unit, model.info.exponent);
  if (model.info.exponent !== PS_EXPONENT) warnOfScale(model.info.exponent, options.unit, context);
  const period = scale.periodPs;
  const events = buildEventSchema(
    model.declarations,
    model.hasInfo ? model.info : null,
    period,
    options.unit,
  );
  const batch = new RecordBatch();
  const interval = checkpointIntervalFor(scale.toPs(lastTick), file.size / BYTES_PER_ITEM);
  const writer = {
    path: target.path,
    schema: events.schema,
    dut: [...events.dut, ...formOf(isPlain, areRelationsShort)],
    compression: target.compression,
    index: createSegmentIndexer,
    checkpointIntervalPs: target.checkpointIntervalPs ?? interval,
  };
  const times = new ExternalSorter(temporaryName(`${target.path}.times`), options.sortWords);
  const joins = new ExternalSorter(temporaryName(`${target.path}.joins`), options.sortWords);
  try {
    const collected = new Collector(scale, times, hasRelations ? joins : null);
    await source.transactions(
      (chunk) => collected.block(chunk),
      () => collected.spill(),
    );
    if (hasRelations) {
      await source.relations(
        (chunk) => collected.relations(chunk),
        () => collected.spill(),
      );
      await collected.join();
    }
    const stats = await withOutput(writer, batch, context.signal, async (output) => {
      await emit(new Emission(events, model, batch, output, context), times);
      return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
    });
    return { stats, isPartial: source.isPartial };
  } finally {
    await times.close();
    await joins.close();
  }
}

function warnOfScale(exponent: number, unit: TimeUnit, context: ConversionContext): void {
  const taken = unit === 'ps' ? 'are taken for picoseconds' : 'are taken as the header says';
  context.onWarning?.(
    `the header says 10^${exponent} s per tick; writers are known whose times are picoseconds all the same: times ${taken} (--opt unit=ps|header)`,
  );
}

async function emit(emission: Emission, times: ExternalSorter): Promise<void> {
  emission.start();
  for await (const batch of times.sorted()) {
    for (let i = 0; i < batch.count; i++) {
      emission.take(batch, i);
      if (emission.isDue) await emission.push();
    }
  }
  emission.finish();
}
