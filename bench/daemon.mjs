// @ts-check
/** The daemon of a benchmark, on a private endpoint. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
const SCHEMA = fileURLToPath(new URL('workload.yaml', import.meta.url));
const START_TIMEOUT_MS = 20_000;

/**
 * Starts `uscope serve`, hands its environment for clients to `body`, and stops it.
 * @template T
 * @param {string} directory for the socket and the traces
 * @param {string} compression a method, or `small`
 * @param {(env: Record<string, string>, pid: number) => Promise<T>} body
 * @param {string[]} [flags] of Node
 * @param {string[]} [more] arguments of `uscope serve`
 * @returns {Promise<T>}
 */
export async function withDaemon(directory, compression, body, flags = [], more = []) {
  const socket = join(directory, 'bench.sock');
  const endpoint = `ipc://${socket}`;
  const method = compression === 'small' ? ['--small'] : ['--compression', compression];
  const args = [COMMAND, 'serve', '--endpoint', endpoint, '--out', directory, ...method, ...more];
  const child = spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const exited = once(child, 'exit');
  try {
    await waitFor(
      () => existsSync(socket),
      () => child.exitCode !== null,
    );
    return await body({ USCOPE_ENDPOINT: endpoint, USCOPE_SCHEMA: SCHEMA }, child.pid ?? 0);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\nThe daemon said:\n${output}`);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

/**
 * @param {() => boolean} condition
 * @param {() => boolean} hopeless
 */
async function waitFor(condition, hopeless) {
  const end = performance.now() + START_TIMEOUT_MS;
  while (!condition()) {
    if (hopeless()) throw new Error('the daemon ended before it was ready');
    if (performance.now() > end) throw new Error('the daemon did not become ready');
    await sleep(20);
  }
}
