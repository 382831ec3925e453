/** Whom a client gives its trace to: other users of the machine must not be able to listen in the daemon's place. */
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { ownUid } from '../../writer/output/own-file.js';
import { defaultEndpoint } from './endpoint.js';

const IPC = 'ipc:///';

/**
 * Directory and socket of an ipc endpoint are those of this user, of root, or of the user that USCOPE_PEER_UID names; nothing there is fine. The
 * clients in C and Python also look at the process at the other end, which Node.js does not show.
 * @throws UscopeError BRIDGE_ENDPOINT
 */
export function checkPlace(endpoint: string, env: NodeJS.ProcessEnv = process.env): void {
  if (!endpoint.startsWith(IPC)) return;
  const path = endpoint.slice(IPC.length - 1);
  // The default place is in a directory where others may create names first.
  const directory = endpoint === defaultEndpoint(env) ? there(dirname(path)) : null;
  if (directory) {
    checkOwner(dirname(path), directory.uid, env);
    if (!directory.isDirectory() || (directory.mode & 0o077) !== 0) {
      const detail = `${dirname(path)} is not a directory that only you may enter (chmod 700); remove it, or give another endpoint`;
      throw new UscopeError('BRIDGE_ENDPOINT', detail, { file: endpoint });
    }
  }
  const socket = there(path);
  if (!socket) return;
  checkOwner(path, socket.uid, env);
  if (!socket.isSocket())
    throw new UscopeError('BRIDGE_ENDPOINT', `${path} is not a socket`, { file: endpoint });
}

const there = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

function checkOwner(what: string, uid: number, env: NodeJS.ProcessEnv): void {
  if (uid === ownUid() || uid === 0 || String(uid) === env.USCOPE_PEER_UID) return;
  throw new UscopeError(
    'BRIDGE_ENDPOINT',
    `${what} belongs to user ${uid}: another user of this machine may listen there; give another endpoint, or trust that user with USCOPE_PEER_UID=${uid}`,
  );
}
