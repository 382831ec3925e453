/**
 * Whose session it is (docs/reference/bridge-protocol.md#sessions): its id is the beginning of the SHA-256 of a secret that only its client has. The id is in the
 * trace and in the names of shared memory; the secret is in no file. So any daemon, also the next one, can tell who may continue a session.
 */
import { createHash, randomBytes } from 'node:crypto';
import { UscopeError } from '../../base/errors.js';
import type { OpenMessage } from './protocol.js';

const SECRET_BYTES = 32;
const ID_BYTES = 16;

export interface SessionKey {
  readonly secret: Uint8Array;
  readonly session: Uint8Array;
}

export function newSessionKey(secret: Uint8Array = new Uint8Array(randomBytes(SECRET_BYTES))): SessionKey {
  return { secret, session: sessionOf(secret) };
}

export function sessionOf(secret: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(secret).digest().subarray(0, ID_BYTES));
}

/**
 * @param isPrivate only processes of the daemon's own user can connect: they may leave the secret out, as clients of before do
 * @throws UscopeError BRIDGE_SESSION
 */
export function checkOwner({ session, secret, name }: OpenMessage, isPrivate: boolean): void {
  if (secret === undefined) {
    if (isPrivate) return;
    throw new UscopeError(
      'BRIDGE_SESSION',
      `the trace "${name}" came without the secret of its session, which tcp endpoints need; use a newer client, or an ipc endpoint`,
    );
  }
  if (Buffer.compare(sessionOf(secret), session) === 0) return;
  throw new UscopeError(
    'BRIDGE_SESSION',
    `the session of the trace "${name}" belongs to another client: the secret is not the one that it was opened with`,
  );
}
