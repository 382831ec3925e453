/** A file or a URL as what the server hands out. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isHttpUrl } from '../reader/http-url.js';
import { httpVersion } from '../reader/index.js';
import { openSource } from '../reader/node.js';
import type { ServedTrace } from './server.js';

/** @throws UscopeError READER_OPEN, READER_HTTP_* */
export async function openServedTrace(pathOrUrl: string): Promise<ServedTrace & { close(): Promise<void> }> {
  const source = await openSource(pathOrUrl);
  // A page that asks for what is missing is told so at once.
  await source.size();
  const isUrl = isHttpUrl(pathOrUrl);
  return {
    name: isUrl ? lastPart(pathOrUrl) : basename(pathOrUrl),
    async size() {
      await source.refresh?.();
      return source.size();
    },
    read: (offset, length) => source.read(offset, length),
    version: async () => (isUrl ? hashed(await httpVersion(pathOrUrl)) : versionOfFile(pathOrUrl)),
    close: async () => source.close?.(),
  };
}

/** A trace that grows keeps its version: its reader knows how to follow it. Another file has another one. */
async function versionOfFile(path: string): Promise<string> {
  const { ino, dev, birthtimeMs } = await stat(path);
  return [dev, ino, Math.round(birthtimeMs)].map((part) => part.toString(36)).join('-');
}

function lastPart(url: string): string {
  return decodeURIComponent(new URL(url).pathname.split('/').at(-1) || 'trace');
}

/** What a server says of the version may hold any character. */
function hashed(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  return `${hash.toString(36)}-${text.length}`;
}
