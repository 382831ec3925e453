// @ts-check
/** A separate process: converts a file several times and prints what each conversion took. */

import { statusBytes } from './memory.mjs';
import { mainThreadSeconds, secondsSince } from './statistics.mjs';

/** @type {typeof import('../sdk/src/formats/index.js')} */
const { convert, formatForName, sniffFormat, USCOPE } = await import(
  new URL('../sdk/dist/formats/index.js', import.meta.url).href
);
const { openSource } = await import('uscope/reader/node');

const [, , input, output, times] = process.argv;
const results = [];
for (let run = 0; run < Number(times); run++) {
  const source = await openSource(input);
  const from = (await sniffFormat(source)) ?? USCOPE;
  const { format: to, extension } = await formatForName(output);
  const cpu = process.cpuUsage();
  const started = mainThreadSeconds();
  await convert({ input, source, from, to, output, extension, options: new Map(), force: true });
  const mainThread = secondsSince(started);
  const { user, system } = process.cpuUsage(cpu);
  await source.close?.();
  results.push({ seconds: (user + system) / 1e6, mainThread, bytes: statusBytes(process.pid, 'VmHWM') });
}
console.log(JSON.stringify(results));
