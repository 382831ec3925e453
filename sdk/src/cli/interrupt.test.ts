/** A conversion that is interrupted ends with the shell's status of the signal and leaves nothing behind, whatever it is doing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { add, coreSchema, frame, TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, PROCESSES_MS } from '../../../test/support/limits.js';
import { runUscope } from '../../../test/support/run-cli.js';

// Commands are started and interrupted.
limitOfFile(PROCESSES_MS);

const COMMAND = fileURLToPath(new URL('../../bin/uscope.js', import.meta.url));
/** Each is a segment of the output. */
const CYCLES = 20_000;
/** The output has begun to be written: everything was read, thousands of segments wait. */
const SOME_BYTES = 10_000;
let directory: string;
const at = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-interrupt-'));
  const frames = Array.from({ length: CYCLES }, (_, i) => frame(i * 1000, add(3, 0, 0, 1)));
  const trace = new TraceBuilder({ schema: coreSchema, compression: 'lz4' }).segment({ frames }).finalize();
  await writeFile(at('input.uscope'), trace.bytes);
  await runUscope(['convert', at('input.uscope'), '-o', at('input.ctrace'), '--waive', 'all']);
  await runUscope(['slice', at('input.uscope'), '--checkpoint-interval', '1ns', '-o', at('segments.uscope')]);
});
beforeEach(() => rm(at('output.uscope'), { force: true }));
afterAll(() => rm(directory, { recursive: true }));

/** Runs in the command: once the output has some bytes, it says so and waits for a byte. So it cannot have ended when the signal comes. */
const WAITS = `
import { readdirSync, readSync, statSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
const [folder, bytes] = [process.env.TEST_FOLDER, Number(process.env.TEST_BYTES)];
// Who has looked at standard input has made its reads end at once.
const waitForByte = () => {
  for (;;)
    try {
      return readSync(0, new Uint8Array(1));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
};
const isNew = (name) => name.includes('.tmp/') || name.endsWith('.part');
const sizes = () => readdirSync(folder, { recursive: true }).filter(isNew).map((name) => statSync(folder + '/' + name).size);
const look = isMainThread && setInterval(() => {
  if (!sizes().some((size) => size >= bytes)) return;
  clearInterval(look);
  writeSync(1, 'written');
  waitForByte();
}, 1);
if (look) look.unref();
`;

/** Interrupts a command while it writes; how it ended, and what it said. */
async function interrupted(args: readonly string[], signal: NodeJS.Signals) {
  const hook = `data:text/javascript,${encodeURIComponent(WAITS)}`;
  const child = spawn(process.execPath, ['--import', hook, COMMAND, ...args], {
    env: { ...process.env, TEST_FOLDER: directory, TEST_BYTES: String(SOME_BYTES) },
  });
  const said = child.stderr.toArray();
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill(signal);
  child.stdin.end('on');
  return { end: await ended, said: Buffer.concat(await said).toString() };
}

it.each([
  ['SIGINT', 130, 'convert'],
  ['SIGTERM', 143, 'convert'],
  ['SIGTERM', 143, 'slice'],
  ['SIGINT', 130, 'merge'],
] as const)('%s while segments are written ends with %i: %s', async (signal, status, verb) => {
  const before = await readdir(directory);
  const input = at(verb === 'convert' ? 'input.ctrace' : 'input.uscope');
  const options = ['--checkpoint-interval', '1ns', '-o', at('output.uscope')];
  const { end, said } = await interrupted([verb, input, ...options], signal);
  expect(end).toEqual([status, null]);
  expect(said).toBe(`uscope: interrupted; ${at('output.uscope')} was not written\n`);
  expect(await readdir(directory)).toEqual(before);
});

/** The lock of a process that is gone is taken over. */
const namesOf = async () => (await readdir(directory)).filter((name) => !name.endsWith('.lock'));

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends a recovery, which leaves nothing',
  async (signal) => {
    const before = await namesOf();
    const { end } = await interrupted(['recover', at('segments.uscope'), '-o', at('output.uscope')], signal);
    expect(end).toEqual([null, signal]);
    expect(await namesOf()).toEqual(before);
  },
);
