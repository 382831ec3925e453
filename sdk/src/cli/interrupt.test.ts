/** A conversion that is interrupted ends with the shell's status of the signal and leaves nothing behind, whatever it is doing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
});
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
const sizes = () => readdirSync(folder, { recursive: true }).filter((name) => name.includes('.tmp/')).map((name) => statSync(folder + '/' + name).size);
const look = isMainThread && setInterval(() => {
  if (!sizes().some((size) => size >= bytes)) return;
  clearInterval(look);
  writeSync(1, 'written');
  waitForByte();
}, 1);
if (look) look.unref();
`;

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s while segments are written ends a conversion with %i', async (signal, status) => {
  const before = await readdir(directory);
  const options = ['--checkpoint-interval', '1ns', '-o', at('output.uscope')];
  const hook = `data:text/javascript,${encodeURIComponent(WAITS)}`;
  const child = spawn(
    process.execPath,
    ['--import', hook, COMMAND, 'convert', at('input.ctrace'), ...options],
    { env: { ...process.env, TEST_FOLDER: directory, TEST_BYTES: String(SOME_BYTES) } },
  );
  const said = child.stderr.toArray();
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill(signal);
  child.stdin.end('on');
  expect(await ended).toEqual([status, null]);
  expect(Buffer.concat(await said).toString()).toBe(
    `uscope: interrupted; ${at('output.uscope')} was not written\n`,
  );
  expect(await readdir(directory)).toEqual(before);
});
