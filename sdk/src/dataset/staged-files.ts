/** The directories of a run that is being written. What a thread that writes them needs to know. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { partition } from './files/names.js';
import { KEYS, type TableName } from './layout.js';

export class StagedFiles {
  constructor(
    readonly path: string,
    private readonly run: string,
  ) {}

  /** Directory of a core's part of a table, of one key for tables that have them. */
  async partOf(table: string, core: string, key?: string): Promise<string> {
    const above = KEYS[table as TableName];
    const directory = join(
      this.path,
      'tables',
      table,
      above === undefined || key === undefined ? '' : partition(above, key),
      partition('run', this.run),
      partition('core', core),
    );
    await mkdir(directory, { recursive: true });
    return directory;
  }
}
