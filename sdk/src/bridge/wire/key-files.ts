/**
 * Files with keys of encrypted connections (CURVE, as ZeroMQ has it): pairs of 32 bytes, written in Z85 (40 printable characters). A key file holds
 * lines `public KEY` and `secret KEY`; a list of clients holds a public key per line, what follows it is for people.
 */
import { readFileSync } from 'node:fs';
import { UscopeError } from '../../base/errors.js';

export interface KeyPair {
  readonly publicKey: string;
  readonly secretKey: string;
}

/** What a daemon needs to let listed clients in and nobody else. */
export interface ServerKeys extends KeyPair {
  readonly clientKeys: ReadonlySet<string>;
}

/** What a client needs: its own pair and the daemon's public key. */
export interface ClientKeys extends KeyPair {
  readonly serverKey: string;
}

const KEY = /^[0-9a-zA-Z.\-:+=^!/*?&<>()[\]{}@%$#]{40}$/;

/** Text of a key file. */
export function keyFile({ publicKey, secretKey }: KeyPair): string {
  return `# µScope key: anyone who can read the secret line can pose as its owner\npublic ${publicKey}\nsecret ${secretKey}\n`;
}

/** @throws UscopeError BRIDGE_KEY */
export function readKeyPair(path: string): KeyPair {
  const keys = new Map(linesOf(path).map(([kind, key]) => [kind, key]));
  return {
    publicKey: checkKey(keys.get('public'), path, 'public'),
    secretKey: checkKey(keys.get('secret'), path, 'secret'),
  };
}

/** The public key in a key file, which need not hold the secret one. @throws UscopeError BRIDGE_KEY */
export function readPublicKey(path: string): string {
  const line = linesOf(path).find(([kind]) => kind === 'public');
  return checkKey(line?.[1], path, 'public');
}

/** Keys of the clients that may connect. Lines of a key file, `public KEY`, do as well. @throws UscopeError BRIDGE_KEY */
export function readClientKeys(path: string): ReadonlySet<string> {
  const keys = linesOf(path)
    .map(([first, second]) => (first === 'public' ? second : first))
    .map((key) => checkKey(key, path, 'client'));
  if (keys.length === 0) {
    throw new UscopeError('BRIDGE_KEY', 'no client may connect: the list has no key', { file: path });
  }
  return new Set(keys);
}

function linesOf(path: string): string[][] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const detail = `the key file cannot be read: ${(cause as Error).message}`;
    throw new UscopeError('BRIDGE_KEY', detail, { file: path }, { cause });
  }
  // "#" is a character of keys too: only a line that begins with it and a blank is a comment.
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line && line !== '#' && !line.startsWith('# '))
    .map((line) => line.split(/\s+/));
}

function checkKey(key: string | undefined, path: string, kind: string): string {
  if (key !== undefined && KEY.test(key)) return key;
  const what = key === undefined ? `there is no ${kind} key` : `a ${kind} key is not 40 characters of Z85`;
  throw new UscopeError('BRIDGE_KEY', `${what}; make keys with "uscope keygen"`, { file: path });
}
