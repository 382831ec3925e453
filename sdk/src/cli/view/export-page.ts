/** `uscope view --export`: the page as files, with a trace beside it. */

import { basename, join } from 'node:path';
import { onOneLine } from '../../base/printable.js';
import { convert, type ForeignFormat, USCOPE } from '../../formats/index.js';
import { openSource } from '../../reader/node.js';
import { type ExportedView, exportView, ServedProgram } from '../../view/index.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { ioError } from '../../writer/output/output-file.js';
import { foreignFormatOf, warnOnce } from '../common/foreign.js';
import { withInterrupt } from '../common/interrupt.js';
import { io } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';

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
