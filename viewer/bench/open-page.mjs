// @ts-check
/** The memory of a page that is open during a whole run: with its first picture, and when the run has ended. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlainSession } from './plain-session.mjs';

/** @typedef {import('../../bench/table.mjs').Row} Row */

const SIZE = { width: 1920, height: 1080 };
const MB = 1e6;
const TARGET_MB = 500;
const POLL_MS = 500;

/** @param {number} cycles @returns {Promise<Row[]>} */
export async function measureOpenPage(cycles) {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-open-page-'));
  const path = join(directory, 'core0.uscope');
  const module = new URL('./long-trace.mjs', import.meta.url).href;
  const code = `import { writeLongTrace } from ${JSON.stringify(module)};
await writeLongTrace(${JSON.stringify(path)}, ${cycles});`;
  const writer = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
  const ended = new Promise((resolve) => writer.once('close', resolve));
  try {
    while (!existsSync(path)) {
      if (writer.exitCode !== null) throw new Error('the trace was not begun');
      await pause();
    }
    return await withPage(path, cycles, ended);
  } finally {
    writer.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** @param {string} path @param {number} cycles @param {Promise<unknown>} ended @returns {Promise<Row[]>} */
async function withPage(path, cycles, ended) {
  const session = await startPlainSession(path, SIZE);
  try {
    while ((await shownCycle(session)) === 0) await pause();
    const [before, from] = [session.pageBytes() ?? 0, await shownCycle(session)];
    let most = before;
    let isEnded = false;
    void ended.then(() => {
      isEnded = true;
    });
    while (!isEnded || (await shownCycle(session)) < cycles - 1) {
      await pause();
      most = Math.max(most, session.pageBytes() ?? 0);
    }
    const after = session.pageBytes() ?? 0;
    const count = cycles.toLocaleString('en-US');
    return [
      {
        name: 'memory of a page that follows, with its first picture',
        value: before / MB,
        unit: 'MB',
        limit: `cycle ${from.toLocaleString('en-US')}`,
      },
      {
        name: `… after ${count} cycles`,
        value: after / MB,
        unit: 'MB',
        target: { atMost: TARGET_MB },
        limit: `most meanwhile ${(most / MB).toFixed(0)} MB, ${(session.fetched().bytes / MB).toFixed(0)} MB fetched`,
      },
    ];
  } finally {
    await session.close();
  }
}

/** The last cycle that the page knows of; 0: it shows nothing yet. @param {import('./plain-session.mjs').PlainSession} session */
const shownCycle = (session) =>
  session.evaluate(() => {
    const hook = /** @type {any} */ (window).__uscope;
    return hook?.state() ? (hook.info()?.segmentCycles.at(-1) ?? 0) : 0;
  }, null);

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));
