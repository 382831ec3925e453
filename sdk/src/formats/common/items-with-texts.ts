/** A trace's items, segment by segment, with the texts that they refer to at hand. */
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { ItemStream } from '../../stream/item-stream.js';
import { StringRefs } from '../../stream/string-refs.js';
import type { ConversionContext } from './foreign-format.js';

/** A string table up to this size is read as a whole. */
const SMALL_TABLE_BYTES = 256 * 1024;

/** Called before the items of a segment: adds the texts to `wanted` that are needed besides theirs. */
export type PrepareSegment = (segment: LoadedSegment, wanted: Set<number>) => Promise<void>;

/**
 * Yields at the start of each segment: its items are those of `next()`, and `trace.strings.peek` has their texts. Reports the progress.
 * @throws UscopeError FORMAT_*, and the signal's reason
 */
export async function* itemsWithTexts(
  trace: Trace,
  { signal, onProgress }: Pick<ConversionContext, 'signal' | 'onProgress'>,
  refs = new StringRefs(trace.schema),
  prepare?: PrepareSegment,
): AsyncGenerator<ItemStream> {
  const items = new ItemStream(trace);
  // Who looks for the texts of a segment reads all of it once more.
  const areAllHere = !prepare && (await trace.strings.loadAll(SMALL_TABLE_BYTES));
  try {
    while (await items.nextSegment()) {
      signal?.throwIfAborted();
      if (!areAllHere) {
        const wanted = new Set<number>();
        refs.collect(items.segment, wanted);
        await prepare?.(items.segment, wanted);
        await trace.strings.load(wanted);
      }
      yield items;
      onProgress?.(Math.min(1, items.segmentsRead / Math.max(1, trace.segmentCount)));
    }
  } finally {
    await items.close();
  }
}
