// @ts-check
/** A separate process: reads every transaction of an FTR file, and says how much memory that took at most. */
import { FtrFile, FtrModel, TransactionCursor } from 'uscope/formats/ftr';
import { fileSource } from 'uscope/reader/node';
import { statusBytes } from './memory.mjs';

const source = await fileSource(process.argv[2]);
const file = await FtrFile.open(source);
const model = new FtrModel();
let transactions = 0;
for await (const chunk of file.chunks()) {
  if (model.take(chunk)) continue;
  const cursor = new TransactionCursor(chunk);
  while (cursor.next()) transactions++;
}
await source.close?.();
// Not `maxRSS`, in which that of the parent at the fork counts too.
process.send?.({ transactions, bytes: statusBytes(process.pid, 'VmHWM') });
process.disconnect?.();
