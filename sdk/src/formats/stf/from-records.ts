/** µScope made of STF back to STF: the same records in the same order. */
import { CursorItem } from '../../format/frame.js';
import type { Trace } from '../../reader/index.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { itemsWithTexts } from '../common/items-with-texts.js';
import type { Tally } from '../common/report.js';
import { RecordAssembler } from './record-assembler.js';
import { RECORDS_PROPERTY, RECORDS_VERSION } from './record-events.js';
import { TYPE_NAMES } from './types.js';
import { StfWriter, type StfWriterOptions } from './writer.js';

/** Whether a trace holds the records of an STF file. */
export function hasRecords(trace: Trace): boolean {
  return trace.dutProperty(RECORDS_PROPERTY) === RECORDS_VERSION;
}

/** @throws UscopeError CONVERT_SOURCE (the events are not those of a whole file), ENV_MISSING, FORMAT_* */
export async function recordsToStf(
  trace: Trace,
  files: OutputFiles,
  options: StfWriterOptions,
  context: ConversionContext,
): Promise<void> {
  const writer = new StfWriter(await files.open(null), options);
  const text = (index: number): string => trace.strings.peek(index) ?? '';
  const assembler = new RecordAssembler(trace.schema, writer, text, () => writer.vlen);
  const tallies: Tally[] = [];
  for (const [type, name] of TYPE_NAMES) tallies[type] = context.report.kept(`${name} records`);
  for await (const items of itemsWithTexts(trace, context)) {
    while (items.next()) {
      if (items.cursor.kind !== CursorItem.EVENT) continue;
      const kind = assembler.take(items.cursor);
      if (kind) tallies[kind].count++;
      if (writer.isFull) await writer.flush();
    }
  }
  assembler.end();
  await writer.close();
}
