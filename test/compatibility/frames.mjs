// @ts-check
/**
 * Conversations between a client and a daemon, in a file: one entry after the other, each
 *
 *     u8 kind (0 client to daemon, 1 daemon to client, 2 the daemon ended and another one took its place), u8 number of parts,
 *     and for each part u32 length, little-endian, and its bytes: the parts of one ZeroMQ message without the routing id.
 */
import { readFileSync, writeFileSync } from 'node:fs';

export const Entry = /** @type {const} */ ({ CLIENT: 0, DAEMON: 1, RESTART: 2 });

/** @typedef {{ readonly kind: number, readonly parts: readonly Uint8Array[] }} ConversationEntry */

/** @param {string} path @param {readonly ConversationEntry[]} entries */
export function writeConversation(path, entries) {
  const pieces = [];
  for (const { kind, parts } of entries) {
    pieces.push(Buffer.from([kind, parts.length]));
    for (const part of parts) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(part.length);
      pieces.push(length, part);
    }
  }
  writeFileSync(path, Buffer.concat(pieces));
}

/** @param {string} path @returns {ConversationEntry[]} */
export function readConversation(path) {
  const bytes = readFileSync(path);
  const entries = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes.readUInt8(at);
    const count = bytes.readUInt8(at + 1);
    at += 2;
    const parts = [];
    for (let i = 0; i < count; i++) {
      const length = bytes.readUInt32LE(at);
      parts.push(bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
      if (at > bytes.length) throw new Error(`${path} ends inside a part`);
    }
    entries.push({ kind, parts });
  }
  return entries;
}
