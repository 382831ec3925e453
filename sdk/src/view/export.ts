/** The viewer as a folder for any web server. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readPage, withTraceNamed } from './page.js';

/**
 * Writes the page, and beside it the trace that it opens.
 * @param trace path of a file; undefined: the page asks for one, or takes `?trace=URL`
 * @param page instead of that of the package
 * @returns names of the files written
 */
export async function exportView(
  directory: string,
  trace?: string,
  page?: ReadonlyMap<string, Uint8Array>,
): Promise<string[]> {
  const files = new Map(page ?? (await readPage()));
  // The list of a directory needs its server.
  for (const file of files.keys()) if (file.startsWith('runs.')) files.delete(file);
  await mkdir(directory, { recursive: true });
  const name = trace === undefined ? undefined : basename(trace);
  for (const [file, bytes] of files) {
    const isPage = file === 'index.html' && name !== undefined;
    const html = isPage
      ? withTraceNamed(Buffer.from(bytes).toString('utf8'), name, { address: encodeURIComponent(name) })
      : null;
    await writeFile(join(directory, file), html ?? bytes);
  }
  if (trace !== undefined && name !== undefined) await copyFile(trace, join(directory, name));
  return [...files.keys(), ...(name === undefined ? [] : [name])];
}
