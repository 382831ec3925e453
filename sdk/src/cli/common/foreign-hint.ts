/** A file that is not a µScope trace, given to a verb that reads only those: what it is, and the command that makes a trace of it. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { sniffFormat, USCOPE } from '../../formats/sniff.js';
import type { Source } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';

/** The same error, or one that says more. */
export async function withForeignHint(error: UscopeError): Promise<UscopeError> {
  const { file } = error.place;
  if (!(error.code.startsWith('FORMAT_') || error.code === 'RECOVER_NOTHING') || file === undefined)
    return error;
  const source = await openSource(file).catch(() => null);
  if (source === null) return error;
  try {
    return (await foreignError(source, file)) ?? error;
  } finally {
    await source.close?.();
  }
}

/** Null: a µScope trace, a damaged one, or nothing known. */
export async function foreignError(source: Source, file: string): Promise<UscopeError | null> {
  try {
    const format = await sniffFormat(source);
    if (format === null || format === USCOPE) return null;
    const output = `${file.replace(/\.[^./]*$/, '')}.uscope`;
    const command = `uscope convert ${quoted(file)} -o ${quoted(output)}`;
    return new UscopeError(
      'FORMAT_MAGIC',
      `this is not a µScope trace but ${format.name}: ${format.title}; \`${command}\` makes a trace of it`,
      { file },
    );
  } catch (found) {
    return isUscopeError(found) && found.code === 'CONVERT_UNSUPPORTED' ? found.at({ file }) : null;
  }
}

const quoted = (path: string): string =>
  /^[\w./+:@%-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
