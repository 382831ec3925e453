// @ts-check
/** Processes that take all the time they get, so that the runs next to them are slow and interrupted at other places. */
import { spawn } from 'node:child_process';

/** One whose parent has gone ends by itself. */
const BUSY = 'const parent = process.ppid; for (;;) if (process.ppid !== parent) process.exit();';

/** @param {number} count @returns {() => void} ends them */
export function startLoad(count) {
  const all = Array.from({ length: count }, () => spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }));
  return () => {
    for (const process of all) process.kill('SIGKILL');
  };
}
