/** Files of other formats as traces: what is compared is converted first, into a directory that goes away. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { convert, type ForeignFormat, USCOPE } from '../../formats/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { openSource } from '../../reader/node.js';
import { scratchDirectory } from '../../writer/output/directories.js';
import { foreignFormatOf, tellPartial, warnOnce } from '../common/foreign.js';
import { shownName } from '../common/trace-file.js';

export interface ForeignArguments {
  readonly options: ReadonlyMap<string, string>;
  /** Format of the files that are not traces, where the user names it. */
  readonly format: string | undefined;
}

/** The paths as they are where they are traces, and those of converted copies where they are not. */
export async function withConverted<T>(
  paths: readonly string[],
  { options, format: named }: ForeignArguments,
  use: (paths: readonly string[]) => Promise<T>,
): Promise<T> {
  const formats = await Promise.all(paths.map((path) => foreignFormat(path, named)));
  if (formats.every((format) => format === null)) {
    checkOptions(options, formats);
    return use(paths);
  }
  checkOptions(options, formats);
  const directory = await scratchDirectory('uscope-diff');
  try {
    const traces: string[] = [];
    for (const [index, path] of paths.entries()) {
      const format = formats[index];
      const output = join(directory, `${index}.uscope`);
      traces.push(format === null ? path : output);
      if (format !== null) await convertOne(path, format, output, options);
    }
    return await use(traces);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @throws UscopeError CONVERT_OPTION for an option that neither file's format has */
function checkOptions(
  options: ReadonlyMap<string, string>,
  formats: readonly (ForeignFormat | null)[],
): void {
  const known = new Set(formats.flatMap((format) => format?.options.map(({ name }) => name) ?? []));
  for (const name of options.keys()) {
    if (known.has(name)) continue;
    throw new UscopeError('CONVERT_OPTION', `"${name}" is not an option of reading these files`);
  }
}

/** Null: a trace, or nothing that can be converted; the code that opens it says what is wrong. */
async function foreignFormat(path: string, named: string | undefined): Promise<ForeignFormat | null> {
  if (isHttpUrl(path)) return null;
  try {
    return await foreignFormatOf(path, named);
  } catch (error) {
    if (isUscopeError(error) && error.code.startsWith('CONVERT_')) throw error;
    return null;
  }
}

async function convertOne(
  path: string,
  from: ForeignFormat,
  output: string,
  given: ReadonlyMap<string, string>,
): Promise<void> {
  const known = new Set(from.options.map(({ name }) => name));
  const options = new Map([...given].filter(([name]) => known.has(name)));
  const source = await openSource(path);
  try {
    const onWarning = warnOnce(path);
    const extension = '.uscope';
    const { isPartial } = await convert({
      input: path,
      source,
      from,
      to: USCOPE,
      output,
      extension,
      options,
      onWarning,
    });
    tellPartial(path, isPartial);
  } catch (error) {
    throw isUscopeError(error) ? error.at({ file: shownName(path) }) : error;
  } finally {
    await source.close?.();
  }
}
