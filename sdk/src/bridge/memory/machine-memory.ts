/** How much memory this process may have: of the machine, its container and its own limits, the least. */

import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { minOf } from '../../base/arrays.js';

/** What peers may cost of it: the rest is for the program itself, the simulators, and the file cache. */
const MEMORY_SHARE = 0.5;
const MiB = 1024 * 1024;
/**
 * Of what the process can still get, kept for itself: threads that are started later, their stacks and heaps, file buffers. Node ends the whole
 * process when a thread or a heap gets no memory. At most half is kept, so that something is left under a small limit.
 */
const RESERVE_BYTES = 256 * MiB;

/** What peers may cost. */
export interface MemoryBound {
  readonly bytes: number;
  /** Why it is less than was asked for: the limit of this process that allows no more; null: it is not less. */
  readonly limit: string | null;
}

/** What bounds a process, and what it has. Absent in the bounds: not limited. */
export interface ProcessMemory {
  readonly machine: number;
  readonly limits: readonly { readonly name: string; readonly bytes: number; readonly used: number }[];
}

/** @param asked `--max-memory`, bytes; undefined: a share of what there is */
export function memoryBound(asked: number | undefined, memory = ownMemory()): MemoryBound {
  const wanted = asked ?? Math.floor(memoryOfProcess(memory) * MEMORY_SHARE);
  let bound: MemoryBound = { bytes: wanted, limit: null };
  for (const { name, bytes, used } of memory.limits) {
    const left = Math.max(0, bytes - used);
    const most = Math.floor(left - Math.min(RESERVE_BYTES, left / 2));
    if (most < bound.bytes) bound = { bytes: most, limit: name };
  }
  return bound;
}

export function memoryOfProcess({ machine, limits }: ProcessMemory = ownMemory()): number {
  return minOf(
    limits.map(({ bytes }) => bytes),
    machine,
  );
}

/** @param readProc contents of a file of /proc/self, '' where there is none */
export function ownMemory(readProc = readOwnProc): ProcessMemory {
  const [limits, status] = [readProc('limits'), readProc('status')];
  const all = [
    {
      name: 'the memory of its container (cgroup)',
      bytes: process.constrainedMemory?.() ?? 0,
      used: usedOf(status, 'VmRSS'),
    },
    {
      name: 'the limit of its data (ulimit -d)',
      bytes: softLimit(limits, 'Max data size'),
      used: usedOf(status, 'VmData'),
    },
    {
      name: 'the limit of its address space (ulimit -v)',
      bytes: softLimit(limits, 'Max address space'),
      used: usedOf(status, 'VmSize'),
    },
  ];
  const machine = totalmem();
  // 0 means that there is no limit, and so does the number beyond any machine that a container without one tells.
  return { machine, limits: all.filter(({ bytes }) => bytes > 0 && Number.isSafeInteger(bytes)) };
}

function readOwnProc(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Bytes; 0: none. */
function softLimit(limits: string, name: string): number {
  const line = limits.split('\n').find((text) => text.startsWith(name)) ?? '';
  const [soft = ''] = line.slice(name.length).trim().split(/\s+/);
  return /^\d+$/.test(soft) ? Number(soft) : 0;
}

/** Bytes; 0: not known. */
function usedOf(status: string, name: string): number {
  const [, kilobytes = '0'] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
  return Number(kilobytes) * 1024;
}
