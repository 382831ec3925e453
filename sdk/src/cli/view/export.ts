/** `uscope view --export`: the page as files for any web server, with a trace beside it. */
import { createReadStream } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { onOneLine } from '../../base/printable.js';
import { convert, type ForeignFormat, USCOPE } from '../../formats/index.js';
import { openSource } from '../../reader/node.js';
import { checkPath, type FileContent, writeFileAtomically } from '../../writer/output/atomic-file.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { ioError } from '../../writer/output/output-file.js';
import { foreignFormatOf, warnOnce } from '../common/foreign.js';
import { withInterrupt } from '../common/interrupt.js';
import { io } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';
import { PROGRAM_PLACES, readPage, withProgramNamed, withTraceNamed } from './server/page.js';
import { ServedProgram } from './server/program.js';

export interface PageSubject {
  readonly file?: string | undefined;
  /** Path of the program's ELF file; it is written too. */
  readonly elf?: string | undefined;
  readonly force?: boolean | undefined;
  /** The format of a file that is not a trace, where the user names it. */
  readonly from?: string | undefined;
}

/** @throws UscopeError CONVERT_*, READER_OPEN, WRITER_* */
export async function exportPage(directory: string, { file, elf, force, from }: PageSubject): Promise<void> {
  const bytes = elf === undefined ? undefined : (await ServedProgram.open(elf)).bytes;
  const program = { program: bytes, programFile: elf, force };
  const format = file === undefined ? null : await foreignFormatOf(file, from);
  const names =
    file === undefined || format === null
      ? await exportView(directory, { trace: file, ...program })
      : await exportConverted(directory, file, format, program);
  for (const name of names ?? []) io.out(`${onOneLine(`${directory}/${name}`)}\n`);
}

/** null: interrupted */
async function exportConverted(
  directory: string,
  file: string,
  format: ForeignFormat,
  program: Omit<ExportedView, 'trace'>,
): Promise<string[] | null> {
  await makeDirectories(directory).catch((error: unknown) => {
    throw ioError(error, directory);
  });
  const output = join(directory, `${basename(file)}.uscope`);
  const source = await openSource(file);
  try {
    const isThere = await withInterrupt(output, (signal) =>
      withProgress(`converting ${format.title}`, (onProgress) =>
        convert({
          ...{ input: file, source, from: format, to: USCOPE, output, extension: '.uscope' },
          ...{ options: new Map(), force: program.force, onProgress, onWarning: warnOnce(file), signal },
        }),
      ),
    );
    return isThere && exportView(directory, { trace: output, ...program });
  } finally {
    await source.close?.();
  }
}

export interface ExportedView {
  /** Path of a trace file; without one the page asks for a trace, or takes `?trace=URL`. */
  readonly trace?: string | undefined;
  /** The program's ELF file: functions are beside instructions. Lines of source need a server. */
  readonly program?: Uint8Array | undefined;
  /** Path of that file, whose mode the copy gets. */
  readonly programFile?: string | undefined;
  /** Replace what is there already. */
  readonly force?: boolean | undefined;
  /** Instead of the page of the package. */
  readonly page?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** A page holds nothing of a trace: a web server may read it. */
const PAGE_MODE = 0o644;

interface Written {
  readonly make: () => FileContent;
  /** The file that it is a copy of. */
  readonly source?: string | undefined;
}

/**
 * Writes the page, and beside it the trace that it opens and the program.
 * @returns names of the files written
 * @throws UscopeError WRITER_* where the directory cannot be written
 */
export async function exportView(
  directory: string,
  { trace, program, programFile, page, force }: ExportedView = {},
): Promise<string[]> {
  const files = new Map(page ?? (await readPage()));
  // The list of a directory needs its server.
  for (const file of files.keys()) if (file.startsWith('runs.')) files.delete(file);
  const name = trace === undefined ? undefined : basename(trace);
  const html = Buffer.from(files.get('index.html') ?? []).toString('utf8');
  files.set('index.html', Buffer.from(withNames(html, name, program !== undefined)));
  const written = new Map<string, Written>([...files].map(([file, bytes]) => [file, { make: () => bytes }]));
  if (program) written.set(PROGRAM_PLACES.elf, { make: () => program, source: programFile });
  const isThere = name !== undefined && resolve(trace ?? '') === resolve(directory, name);
  if (trace !== undefined && name !== undefined && !isThere)
    written.set(name, { make: () => createReadStream(trace), source: trace });
  await makeDirectories(directory).catch((error: unknown) => {
    throw ioError(error, directory);
  });
  const inputs = [trace, programFile].filter((path) => path !== undefined);
  for (const file of written.keys()) await checkPath(join(directory, file), { inputs, force });
  for (const [file, { make, source }] of written) {
    const options = { inputs: source === undefined ? [] : [source], force, mode: PAGE_MODE };
    await writeFileAtomically(join(directory, file), async () => make(), options);
  }
  return [...new Set([...written.keys(), ...(name === undefined ? [] : [name])])];
}

function withNames(html: string, name: string | undefined, hasProgram: boolean): string {
  const program = hasProgram ? { elf: PROGRAM_PLACES.elf, lines: null } : null;
  if (name !== undefined) return withTraceNamed(html, name, { address: encodeURIComponent(name), program });
  return program ? withProgramNamed(html, program) : html;
}
