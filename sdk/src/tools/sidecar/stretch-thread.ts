/** Runs in a thread of `uscope index`: makes the index of one stretch of segments after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorCode } from '../../base/codes.js';
import { type ErrorPlace, isUscopeError } from '../../base/errors.js';
import { openTraceFile } from '../../reader/node.js';
import { indexPlan } from '../../trace-index/plan.js';
import { type IndexedStretch, type Stretch, StretchIndexer } from './stretch.js';

export type StretchAnswer =
  | { readonly stretch: IndexedStretch }
  | { readonly code: ErrorCode; readonly detail: string; readonly place: ErrorPlace };

const indexer = open(workerData as string);
let working: Promise<unknown> = Promise.resolve();
// Answers have the order of the questions.
parentPort?.on('message', (stretch: Stretch) => {
  working = working.then(async () => parentPort?.postMessage(await answerTo(stretch)));
});

async function open(path: string): Promise<StretchIndexer> {
  const trace = await openTraceFile(path);
  return new StretchIndexer(trace, indexPlan(trace.schema, trace.dut));
}

async function answerTo(stretch: Stretch): Promise<StretchAnswer> {
  try {
    return { stretch: await (await indexer).index(stretch) };
  } catch (error) {
    if (!isUscopeError(error)) return { code: 'READER_OPEN', detail: String(error), place: {} };
    const { code, detail, place } = error;
    return { code, detail, place };
  }
}
