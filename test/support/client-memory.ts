/** The memory of a local client (docs/reference/bridge-protocol.md#memory-of-a-local-client), as the daemon finds it: a file made by hand. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Offset of the first chunk. */
export const CHUNKS_AT = 4096;

export const memoryPath = (directory: string, session: Uint8Array): string =>
  join(directory, `uscope-${Buffer.from(session).toString('hex')}.mem`);

/** A memory with these bytes in its first chunk, and no chunk table: there is nothing to drain. Returns its path. */
export function makeMemory(
  directory: string,
  session: Uint8Array,
  content: Uint8Array,
  mode = 0o600,
): string {
  const bytes = Buffer.alloc(CHUNKS_AT + content.length);
  bytes.writeUInt32LE(0x4d45_4d75, 0);
  bytes.writeUInt32LE(1, 4);
  bytes.set(session, 8);
  bytes.writeBigUInt64LE(BigInt(CHUNKS_AT), 64);
  bytes.set(content, CHUNKS_AT);
  const path = memoryPath(directory, session);
  writeFileSync(path, bytes, { mode });
  chmodSync(path, mode);
  return path;
}
