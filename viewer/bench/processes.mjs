// @ts-check
/** Memory of a browser's processes. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Bytes of the largest renderer below a process, its proportional set size: what it shares with other processes counts in part.
 * @param {number} root
 * @returns {number | null} null: this system does not say
 */
export function largestRenderer(root) {
  /** @type {number[]} */
  const sizes = [];
  for (const pid of descendants(root)) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) continue;
      const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
      sizes.push(Number(kilobytes) * 1024);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/** @param {number} root */
function descendants(root) {
  /** @type {Map<number, number>} */
  const parents = new Map();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      } catch {
        // It has ended meanwhile.
      }
    }
  } catch {
    return [];
  }
  const isBelow = (/** @type {number} */ pid) => {
    for (let at = parents.get(pid); at !== undefined && at > 0; at = parents.get(at))
      if (at === root) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}
