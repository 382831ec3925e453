/** The STF that is made of a trace of the core, as a list of what it says was executed. */
import { ConversionReport } from '../../sdk/src/formats/common/report.js';
import { FORMAT } from '../../sdk/src/formats/stf/format.js';
import { MemoryOutput, pcOf, StfFile, StfType } from '../../sdk/src/formats/stf/index.js';
import { memorySource, type Trace } from '../../sdk/src/reader/index.js';

export interface StfStep {
  readonly pc: number;
  readonly bits: number;
  /** Ids of its EVENT records. */
  readonly events: readonly bigint[];
  /** Of a store whose address is known. */
  readonly store: { readonly address: number; readonly size: number; readonly content: number } | null;
}

/** @param core scope of the core; null: the only one */
export async function stfOf(trace: Trace, core: string | null = null): Promise<StfStep[]> {
  const output = new MemoryOutput();
  const options = new Map(core === null ? [] : [['core', core]]);
  await FORMAT.write!(trace, { open: async () => output }, '.stf', {
    options,
    report: new ConversionReport(),
  });
  const stream = await (await StfFile.open(memorySource(output.bytes))).stream();
  const { cursor } = stream;
  const steps: StfStep[] = [];
  let events: bigint[] = [];
  let access: { address: number; size: number } | null = null;
  let store: StfStep['store'] = null;
  while (await stream.more()) {
    while (stream.next()) {
      const { view, at, type } = cursor;
      if (type === StfType.EVENT) events.push(view.getBigUint64(at + 1, true));
      else if (type === StfType.INST_MEM_ACCESS) {
        access = { address: Number(view.getBigUint64(at + 1, true)), size: view.getUint16(at + 9, true) };
      } else if (type === StfType.INST_MEM_CONTENT && access) {
        store = { ...access, content: Number(view.getBigUint64(at + 1, true)) };
      } else if (cursor.isMarker) {
        steps.push({ pc: Number(pcOf(cursor)), bits: cursor.bits, events, store });
        events = [];
        access = store = null;
      }
    }
  }
  return steps;
}
