// @ts-check
/** Conversions in separate processes, as commands or several times in one; and splitting into lines, the limit of text formats. */

import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mainThreadSeconds, secondsSince } from './statistics.mjs';

/**
 * Processor time of all threads in seconds, and the process's memory at most in bytes.
 * @typedef {{ seconds: number, bytes: number }} Conversion
 * @typedef {Conversion & { mainThread: number }} RepeatedConversion with the processor time of the main thread
 */

const execute = promisify(execFile);
const BIN = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
const RUN = fileURLToPath(new URL('./conversion-run.mjs', import.meta.url));
const INTERRUPT = fileURLToPath(new URL('./interrupt-run.mjs', import.meta.url));
const LF = 10;

/**
 * V8 collects garbage when it sees fit: without a limit a longer run shows what it left lying about, not what the conversion needs.
 */
const HEAP_LIMIT = '--max-old-space-size=96';

/**
 * `uscope convert` with its start, as users run it, in a heap of 96 MB.
 * @param {readonly string[]} args
 * @returns {Promise<Conversion>}
 */
export async function convertByCommand(args) {
  // Not `maxRSS`, in which that of the parent at the fork counts too.
  const script = `
    import { readFileSync } from 'node:fs';
    process.argv.splice(1, 0, ${JSON.stringify(BIN)});
    process.on('exit', () => {
      const { userCPUTime, systemCPUTime } = process.resourceUsage();
      const [, kib] = /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
      const seconds = (userCPUTime + systemCPUTime) / 1e6;
      console.log('\\n' + JSON.stringify({ seconds, bytes: Number(kib) * 1024 }));
    });
    await import(${JSON.stringify(BIN)});`;
  return measured([HEAP_LIMIT, '--input-type=module', '-e', script, 'convert', ...args, '--force']);
}

/**
 * The same conversion `times` in one process, whose first one compiles; without the start.
 * @param {string} from
 * @param {string} to
 * @param {number} times
 * @returns {Promise<RepeatedConversion[]>} of each
 */
export async function convertRepeatedly(from, to, times) {
  return measured([RUN, from, to, String(times)]);
}

/**
 * Interrupts conversions at several places.
 * @param {string} from
 * @param {string} to
 * @returns {Promise<number[]>} processor time of the main thread that each still took, in seconds
 */
export async function interruptConversions(from, to) {
  return measured([INTERRUPT, from, to]);
}

/** @param {readonly string[]} args */
async function measured(args) {
  const { stdout } = await execute(process.execPath, args);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

/**
 * Reads a file and makes a string of each line.
 * @param {string} path
 * @returns {Promise<number>} processor time of the thread, in seconds
 */
export async function splitLines(path) {
  const started = mainThreadSeconds();
  let characters = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    let from = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, from)) {
      characters += piece.latin1Slice(from, at).length;
      from = at + 1;
    }
  }
  if (characters === 0) throw new Error(`${path} is empty`);
  return secondsSince(started);
}
