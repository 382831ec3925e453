// @ts-check
/** A separate process: converts a file, interrupts further conversions of it at several places, and prints how long each went on. */

import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { mainThreadSeconds } from './statistics.mjs';

/** @type {typeof import('../sdk/src/formats/index.js')} */
const { convert, formatForName, sniffFormat, USCOPE } = await import(
  new URL('../sdk/dist/formats/index.js', import.meta.url).href
);
const { openSource } = await import('uscope/reader/node');

const TICK_MS = 2;
const PARTS = [0.1, 0.3, 0.5, 0.7, 0.9];
const [, , input, output] = process.argv;

/** Processor time of this thread at the last turn of the event loop, in seconds. */
let turned = mainThreadSeconds();
/** @type {() => void} */
let onTurn = () => {};
const ticks = setInterval(() => {
  onTurn();
  turned = mainThreadSeconds();
}, TICK_MS);

/** @param {AbortSignal} [signal] */
async function run(signal) {
  const source = await openSource(input);
  const from = (await sniffFormat(source)) ?? USCOPE;
  const { format: to, extension } = await formatForName(output);
  try {
    await convert({
      ...{ input, source, from, to, output, extension, options: new Map(), force: true },
      ...(signal ? { signal } : {}),
    });
    return true;
  } finally {
    await source.close?.();
  }
}

await run();
const begun = mainThreadSeconds();
await run();
const whole = mainThreadSeconds() - begun;
const before = readdirSync(dirname(output)).length;
const late = [];
for (const part of PARTS) {
  const controller = new AbortController();
  const due = mainThreadSeconds() + part * whole;
  // From the turn before the one in which the signal comes: it may have come right after that.
  let since = 0;
  onTurn = () => {
    if (since > 0 || mainThreadSeconds() < due) return;
    since = turned;
    controller.abort(new Error('interrupted'));
  };
  const isWhole = await run(controller.signal).catch(() => false);
  if (!isWhole) late.push(mainThreadSeconds() - since);
}
clearInterval(ticks);
if (late.length === 0) throw new Error('no conversion was interrupted');
if (readdirSync(dirname(output)).length !== before) throw new Error('an interrupted conversion left a file');
console.log(JSON.stringify(late));
