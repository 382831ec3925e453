/** The strings that rows of a table name, as a table to join with. */
import type { Trace } from '../../reader/index.js';
import { type Connection, named } from '../engine/duckdb.js';

/** The reader keeps no more than some millions of characters. */
const BATCH = 4096;

export class TextTable {
  private readonly wanted = new Set<number>();

  constructor(
    private readonly trace: Trace,
    private readonly connection: Connection,
    readonly table: string,
  ) {}

  want(reference: number): void {
    this.wanted.add(reference);
  }

  /** Makes the table of the strings wanted since it was made last. */
  async make(): Promise<void> {
    const { connection, trace, table } = this;
    await connection.run(`CREATE OR REPLACE TABLE ${named(table)} (reference BIGINT, "text" VARCHAR)`);
    const appender = await connection.createAppender(table);
    const all = [...this.wanted].sort((a, b) => a - b);
    for (let first = 0; first < all.length; first += BATCH) {
      const some = all.slice(first, first + BATCH);
      await trace.strings.load(some);
      for (const reference of some) {
        appender.appendBigInt(BigInt(reference));
        appender.appendVarchar(trace.strings.peek(reference) ?? `#${reference}`);
        appender.endRow();
      }
    }
    appender.closeSync();
    this.wanted.clear();
  }
}
