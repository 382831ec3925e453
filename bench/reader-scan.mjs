// @ts-check
/** A separate process that scans a trace once: what the profiler looks at. Prints the number of items. */
import { openTraceFile } from 'uscope/reader/node';

const trace = await openTraceFile(process.argv[2]);
let items = 0;
await trace.scan({}, { op: () => void items++, event: () => void items++ });
await trace.close();
console.log(items);
