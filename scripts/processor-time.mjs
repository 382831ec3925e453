// @ts-check
/** Processor time of the programs that this one has run, with all that they ran: what a loaded machine takes for a step says little. */
import { readFileSync } from 'node:fs';

/** Of /proc/PID/stat, on every Linux. */
const TICKS_PER_SECOND = 100;
/** After the name, which may contain anything: user and system time of children that have ended. */
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

/** In seconds; null where it cannot be known. */
export function childrenSeconds() {
  try {
    return secondsOf(readFileSync('/proc/self/stat', 'latin1'));
  } catch {
    return null;
  }
}

/** @param {string} stat */
export function secondsOf(stat) {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM])) / TICKS_PER_SECOND;
}
