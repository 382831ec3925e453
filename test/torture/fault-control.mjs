// @ts-check
/** The control file of fail-call.c, and what must not be in the output of any program. */
import { openSync, readSync, writeFileSync, writeSync } from 'node:fs';

/** What fails a call: of errno.h, and what fail-call.c takes for a short write and for a disk that is full from then on. */
export const FAULTS = /** @type {const} */ ({ EIO: 5, ENOSPC: 28, EINTR: 4, short: -1, full: -2 });

const SIZE = 32;

export class FaultControl {
  #fd;

  /** @param {string} path */
  constructor(path) {
    this.#fd = openSync(path, 'r+');
  }

  /** @param {string} path */
  static create(path) {
    writeFileSync(path, Buffer.alloc(SIZE));
    return new FaultControl(path);
  }

  /** @param {number} nth 0: no call fails, they are counted @param {number} error */
  arm(nth, error) {
    const bytes = Buffer.alloc(SIZE);
    bytes.writeBigInt64LE(BigInt(nth), 0);
    bytes.writeBigInt64LE(BigInt(error), 8);
    writeSync(this.#fd, bytes, 0, SIZE, 0);
  }

  /** @returns {{ count: number, hit: string }} calls, and the kind of the one that failed; empty: none has */
  disarm() {
    const bytes = Buffer.alloc(SIZE);
    readSync(this.#fd, bytes, 0, SIZE, 0);
    const hit = Number(bytes.readBigInt64LE(24));
    const count = Number(bytes.readBigInt64LE(16));
    this.arm(0, 0);
    return { count, hit: hit === 0 ? '' : String.fromCharCode(hit) };
  }
}

/** @param {string} output @returns {string[]} */
export function problemsOfText(output) {
  const problems = [];
  if (/^\s+at .+:\d+:\d+\)?$/m.test(output)) problems.push('a stack is printed');
  if (output.includes('unexpected failure')) problems.push('an error without a code');
  return problems;
}
