// @ts-check
/** A process of its own: reads every transaction of an FTR file, and tells how much memory that took at most. */
import { FtrFile, FtrModel, TransactionCursor } from 'uscope/convert/ftr';
import { fileSource } from 'uscope/reader/node';

const source = await fileSource(process.argv[2]);
const file = await FtrFile.open(source);
const model = new FtrModel();
let transactions = 0;
// Not `maxRSS`, in which that of the parent at the fork counts too.
let bytes = 0;
let chunks = 0;
for await (const chunk of file.chunks()) {
  if (chunks++ % 32 === 0) bytes = Math.max(bytes, process.memoryUsage.rss());
  if (model.take(chunk)) continue;
  const cursor = new TransactionCursor(chunk);
  while (cursor.next()) transactions++;
}
await source.close?.();
process.send?.({ transactions, bytes });
process.disconnect?.();
