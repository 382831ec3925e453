/** How much memory this process may have: of the machine, its container and its own limits, the least. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** What peers may cost of it: the rest is for the program itself, the simulators, and the file cache. */
export const MEMORY_SHARE = 0.5;

export function defaultMaxMemory(): number {
  return Math.floor(memoryOfProcess() * MEMORY_SHARE);
}

export function memoryOfProcess(limits = processLimits()): number {
  const constrained = process.constrainedMemory?.() ?? 0;
  const bounds = [
    totalmem(),
    constrained,
    softLimit(limits, 'Max data size'),
    softLimit(limits, 'Max address space'),
  ];
  // 0 and absurd numbers mean that there is no bound.
  return Math.min(...bounds.filter((bytes) => bytes > 0));
}

function processLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
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
