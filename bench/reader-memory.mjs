// @ts-check
/** A separate process: scans a trace, asks for states of it, and says how much memory that took at most. */
import { openTraceFile } from 'uscope/reader/node';
import { statusBytes } from './memory.mjs';

const STATES = 100;

const trace = await openTraceFile(process.argv[2]);
let items = 0;
await trace.scan({}, { op: () => void items++, event: () => void items++ });
for (let i = 0; i < STATES; i++) {
  await trace.stateAt((trace.totalTimePs * BigInt(i)) / BigInt(STATES));
}
await trace.close();
// Not `maxRSS`, in which that of the parent at the fork counts too.
process.send?.({ items, bytes: statusBytes(process.pid, 'VmHWM') });
process.disconnect?.();
