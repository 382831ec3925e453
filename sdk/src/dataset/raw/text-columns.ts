/** Columns whose values are codes of texts: labels of enums, and strings of the trace. */
import { appendAll } from '../../base/arrays.js';
import type { EnumDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { CodeColumn } from '../parquet/columns.js';
import { LabelDictionary, LaterDictionary } from '../parquet/dictionary.js';

/** A column of the labels of values; the number where there is none. */
export function labelColumn(name: string, labels: Pick<EnumDef, 'values'> | null): CodeColumn {
  const names = new Map<number, string>();
  // The first of two labels of a value counts.
  for (const { value, name } of labels?.values ?? []) if (!names.has(value)) names.set(value, name);
  return new CodeColumn(name, new LabelDictionary((code) => names.get(code) ?? String(code)));
}

/** A column of the names in a list, by their indices. */
export const nameColumn = (name: string, names: readonly string[]): CodeColumn =>
  labelColumn(name, { values: names.map((label, value) => ({ value, name: label })) });

/** A column of strings of the trace, by their references. */
export const stringColumn = (name: string, trace: Trace): CodeColumn =>
  new CodeColumn(name, new LaterDictionary((references) => textsOf(trace, references)));

/** The reader keeps no more than some millions of characters. */
const BATCH = 4096;

/** In the order of the references. */
async function textsOf(trace: Trace, references: readonly number[]): Promise<string[]> {
  const texts: string[] = [];
  for (let first = 0; first < references.length; first += BATCH) {
    const some = references.slice(first, first + BATCH);
    await trace.strings.load(some);
    appendAll(
      texts,
      some.map((reference) => trace.strings.peek(reference) ?? `#${reference}`),
    );
  }
  return texts;
}
