/** Standard input, and other pipes, as a source: read from its beginning to its end, once. */
import { createReadStream, fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Source } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';

const STDIN = 0;
/** What has been read stays until this much has come after it: the beginning of a file is looked at more than once. */
const KEPT_BYTES = 1024 * 1024;

/** A source over what a user names: `-` for standard input, a pipe, a file, or a URL. @throws UscopeError READER_OPEN */
export async function openInput(path: string): Promise<Source> {
  if (path === '-' && fstatSync(STDIN).isFile()) return openSource('/dev/stdin');
  if (path === '-') return pipeSource('standard input', process.stdin);
  const isPipe =
    !isHttpUrl(path) &&
    (await stat(path).then(
      (found) => found.isFIFO(),
      () => false,
    ));
  return isPipe ? pipeSource(path, createReadStream(path)) : openSource(path);
}

/** @param stream gives bytes, never more than are asked for by reading on */
export function pipeSource(name: string, stream: AsyncIterable<Uint8Array> & { destroy?(): void }): Source {
  const pieces = stream[Symbol.asyncIterator]();
  /** The bytes from `start` on. */
  let start = 0;
  let kept: Uint8Array = new Uint8Array(0);
  let isDone = false;
  const more = async (): Promise<void> => {
    const { value, done } = await pieces.next();
    if (done) isDone = true;
    else kept = kept.length === 0 ? value : concatBytes([kept, value]);
  };
  return {
    name,
    // How much will come is not known; readers stop where a read gives nothing.
    size: async () => (isDone ? start + kept.length : Number.MAX_SAFE_INTEGER),
    async read(offset, length) {
      if (offset < start) {
        throw new UscopeError(
          'CONVERT_SOURCE',
          'this format is read more than once, which a pipe does not allow: write it to a file first',
          { file: name },
        );
      }
      while (!isDone && start + kept.length <= offset) await more();
      while (!isDone && offset < SNIFFED && start + kept.length < offset + Math.min(length, SNIFFED))
        await more();
      const from = offset - start;
      const found = kept.slice(from, from + length);
      if (from > KEPT_BYTES) {
        kept = kept.slice(from);
        start = offset;
      }
      return found;
    },
    async close() {
      stream.destroy?.();
    },
  };
}

/** The beginning comes in one piece, however small those of the pipe are: formats are recognized by it. */
const SNIFFED = 4096;
