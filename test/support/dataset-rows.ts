/** Rows of datasets, for tests: every cell as a string, a number or null, 64-bit integers as bigint. */
import { type Engine, loadEngine, SqlSession } from '../../sdk/src/dataset/index.js';

let engine: Promise<Engine> | null = null;

export const theEngine = (): Promise<Engine> => {
  engine ??= loadEngine();
  return engine;
};

export interface Questions {
  ask(question: string): Promise<unknown[][]>;
  close(): Promise<void>;
}

/** A session whose questions can be asked one after the other. */
export async function questions(...roots: string[]): Promise<Questions> {
  const session = await SqlSession.open(await theEngine(), roots);
  return {
    ask: (question) =>
      session.ask(question, async (result) => {
        const rows: unknown[][] = [];
        for (;;) {
          const chunk = await result.fetchChunk();
          if (chunk === null || chunk.rowCount === 0) return rows;
          rows.push(...(chunk.getRows() as unknown[][]));
        }
      }),
    close: () => session.close(),
  };
}
