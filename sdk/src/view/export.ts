/** The viewer as a folder for any web server. */
import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeDirectories } from '../writer/output/directories.js';
import { ioError } from '../writer/output/output-file.js';
import { readPage, withProgramNamed, withTraceNamed } from './page.js';
import { PROGRAM_PLACES } from './program-paths.js';

export interface ExportedView {
  /** Path of a trace file; without one the page asks for a trace, or takes `?trace=URL`. */
  readonly trace?: string | undefined;
  /** The program's ELF file: functions are beside instructions. Lines of source need a server. */
  readonly program?: Uint8Array | undefined;
  /** Instead of the page of the package. */
  readonly page?: ReadonlyMap<string, Uint8Array> | undefined;
}

/**
 * Writes the page, and beside it the trace that it opens and the program.
 * @returns names of the files written
 * @throws UscopeError WRITER_* where the directory cannot be written
 */
export async function exportView(
  directory: string,
  { trace, program, page }: ExportedView = {},
): Promise<string[]> {
  const files = new Map(page ?? (await readPage()));
  // The list of a directory needs its server.
  for (const file of files.keys()) if (file.startsWith('runs.')) files.delete(file);
  const name = trace === undefined ? undefined : basename(trace);
  const html = Buffer.from(files.get('index.html') ?? []).toString('utf8');
  files.set('index.html', Buffer.from(withNames(html, name, program !== undefined)));
  if (program) files.set(PROGRAM_PLACES.elf, program);
  try {
    await makeDirectories(directory);
    for (const [file, bytes] of files) await writeFile(join(directory, file), bytes);
    if (trace !== undefined && name !== undefined) await copyFile(trace, join(directory, name));
  } catch (error) {
    throw ioError(error, directory);
  }
  return [...files.keys(), ...(name === undefined ? [] : [name])];
}

function withNames(html: string, name: string | undefined, hasProgram: boolean): string {
  const program = hasProgram ? { elf: PROGRAM_PLACES.elf, lines: null } : null;
  if (name !== undefined) return withTraceNamed(html, name, { address: encodeURIComponent(name), program });
  return program ? withProgramNamed(html, program) : html;
}
