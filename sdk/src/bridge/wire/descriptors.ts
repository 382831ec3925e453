/** File descriptors for the message library, which ends the whole process where it lacks one. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { UscopeError } from '../../base/errors.js';

/** What a context with two sockets takes, and some for the process. */
const NEEDED = 24;

/** Before a socket of the message library is made. @throws UscopeError ENV_DESCRIPTORS */
export function checkDescriptors(): void {
  const taken: number[] = [];
  try {
    while (taken.length < NEEDED) taken.push(openSync(devNull, 'r'));
  } catch (cause) {
    const detail = `this process has ${taken.length} file descriptors left, and a connection takes up to ${NEEDED}; close some, or raise the limit (ulimit -n)`;
    throw new UscopeError('ENV_DESCRIPTORS', detail, {}, { cause });
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}
