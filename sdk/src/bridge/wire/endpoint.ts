/** The endpoint on which the daemon listens: default place, what is allowed, and what is there already. */
import { chmodSync, lstatSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import type { Router } from 'zeromq';
import { UscopeError } from '../../base/errors.js';
import { makeDirectories } from '../../writer/output/directories.js';

/** Bytes of a Unix socket's path, without its terminating NUL (Linux). */
export const MAX_IPC_PATH_BYTES = 107;
const IPC = 'ipc://';
const TCP = /^tcp:\/\/(.+):(\*|[0-9]{1,5})$/;
const LIVE_CHECK_MS = 2000;

function endpointError(endpoint: string, detail: string, cause?: unknown): UscopeError {
  return new UscopeError('BRIDGE_ENDPOINT', detail, { file: endpoint }, { cause });
}

/** Where clients and `uscope serve` meet unless configured otherwise: a socket that only this user may open. */
export function defaultEndpoint(env: NodeJS.ProcessEnv = process.env): string {
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime && isAbsolute(runtime)) return `${IPC}${runtime}/uscope.sock`;
  return `${IPC}/tmp/uscope-${process.getuid?.() ?? 0}/uscope.sock`;
}

/**
 * An endpoint that may be bound, in the form ZeroMQ wants.
 * @param isEncrypted only clients with listed keys get in: then every address will do
 * @throws UscopeError BRIDGE_ENDPOINT
 */
export function checkEndpoint(endpoint: string, isEncrypted = false): string {
  if (endpoint.startsWith(IPC)) return checkIpc(endpoint);
  if (endpoint.startsWith('tcp://')) return checkTcp(endpoint, isEncrypted);
  throw endpointError(endpoint, 'an endpoint is ipc:///path/to/socket or tcp://127.0.0.1:PORT');
}

function checkIpc(endpoint: string): string {
  const path = endpoint.slice(IPC.length);
  // "ipc://@name" is an abstract socket, which every user of the machine may open.
  if (!isAbsolute(path)) throw endpointError(endpoint, 'the path of an ipc endpoint must be absolute');
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_IPC_PATH_BYTES) {
    throw endpointError(
      endpoint,
      `the path has ${bytes} bytes; a socket's path may have ${MAX_IPC_PATH_BYTES}: choose a shorter directory`,
    );
  }
  return endpoint;
}

/** Without keys what comes here is neither authenticated nor encrypted: only this machine may be given it. */
function checkTcp(endpoint: string, isEncrypted: boolean): string {
  const [, host = '', port = ''] = TCP.exec(endpoint) ?? [];
  if (!host || (port !== '*' && (Number(port) < 1 || Number(port) > 0xffff))) {
    throw endpointError(endpoint, 'a tcp endpoint is tcp://127.0.0.1:PORT, with a port from 1 to 65535 or *');
  }
  if (host === 'localhost') return `tcp://127.0.0.1:${port}`;
  if (isEncrypted && /^(\*|[0-9.]+|\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)$/.test(host)) return endpoint;
  if (/^127(\.[0-9]{1,3}){3}$/.test(host) || host === '[::1]') return endpoint;
  throw endpointError(
    endpoint,
    `without keys the daemon listens on loopback addresses only (127.0.0.1, [::1]), not on ${host}: give it --key and --clients (uscope keygen), or reach it through an SSH tunnel`,
  );
}

/**
 * Binds the socket and returns the endpoint it is bound to (with the port chosen for `*`). The socket's directory is created with
 * mode 0700, the socket gets mode 0600, what a dead daemon left is replaced, a living one is not.
 * @throws UscopeError BRIDGE_ENDPOINT
 */
export async function bindEndpoint(router: Router, endpoint: string, isEncrypted = false): Promise<string> {
  const address = checkEndpoint(endpoint, isEncrypted);
  const path = address.startsWith(IPC) ? address.slice(IPC.length) : null;
  if (path !== null) {
    await prepareDirectory(endpoint, dirname(path));
    await clearSocket(endpoint, path);
  } else if (address.includes('[')) {
    router.ipv6 = true;
  }
  try {
    await bindPrivately(router, address);
    if (path !== null) chmodSync(path, 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'another program listens there' : message;
    throw endpointError(endpoint, `cannot listen: ${reason}`, error);
  }
  return router.lastEndpoint ?? address;
}

/** After the socket is closed: its file. */
export function removeSocket(endpoint: string): void {
  if (endpoint.startsWith(IPC)) rmSync(endpoint.slice(IPC.length), { force: true });
}

/** Nobody else may open the socket in the moment between its creation and chmod. */
async function bindPrivately(router: Router, address: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    await router.bind(address);
  } finally {
    process.umask(before);
  }
}

async function prepareDirectory(endpoint: string, directory: string): Promise<void> {
  try {
    await makeDirectories(directory, 0o700);
    if (endpoint === defaultEndpoint()) checkOwned(endpoint, directory);
  } catch (error) {
    if (error instanceof UscopeError) throw error;
    throw endpointError(endpoint, `its directory cannot be used: ${(error as Error).message}`, error);
  }
}

/** The default place is below a directory where others may create names first. */
function checkOwned(endpoint: string, directory: string): void {
  const stat = lstatSync(directory);
  const owned = stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
  if (!owned) {
    throw endpointError(
      endpoint,
      `${directory} is not a directory that only you may enter (chmod 700); remove it or give another endpoint`,
    );
  }
}

async function clearSocket(endpoint: string, path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isSocket())
    throw endpointError(endpoint, 'something that is not a socket is there; remove it first');
  if (await isListening(path)) {
    throw endpointError(
      endpoint,
      'a daemon listens there already: use it, stop it, or give another endpoint',
    );
  }
  unlinkSync(path);
}

/** Anything but a refusal counts as alive: a living daemon must never lose its socket to a second one. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (alive: boolean): void => {
      socket.destroy();
      resolve(alive);
    };
    socket.setTimeout(LIVE_CHECK_MS, () => settle(true));
    socket.once('connect', () => settle(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}
