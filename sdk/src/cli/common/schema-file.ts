/** The text of a schema file that a command line names. */
import { readFileSync } from 'node:fs';
import { UscopeError } from '../../base/errors.js';

/** @throws UscopeError CLI_USAGE when the file cannot be read */
export function readSchemaFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const detail = `the schema cannot be read: ${(cause as Error).message}`;
    throw new UscopeError('CLI_USAGE', detail, { file }, { cause });
  }
}
