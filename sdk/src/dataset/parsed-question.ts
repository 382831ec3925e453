/** What the engine's own parser says of a text, without running or preparing it. */
import { type Connection, quoted } from './engine/duckdb.js';

/** A text as the parser reads it. */
export type Parsed =
  /** Statements that ask. */
  | {
      readonly kind: 'select';
      readonly statements: number;
      /** Of tables and functions, in lower case. */
      readonly names: ReadonlySet<string>;
      /** Functions that are tables. */
      readonly tableFunctions: ReadonlySet<string>;
    }
  /** At least one that does something else, or none. */
  | { readonly kind: 'other' }
  | { readonly kind: 'wrong'; readonly message: string };

interface Serialized {
  readonly error?: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly unknown[];
}

export async function parsedQuestion(connection: Connection, sql: string): Promise<Parsed> {
  const result = await connection.runAndReadAll(`SELECT json_serialize_sql(${quoted(sql)})`);
  const root = JSON.parse(String(result.getRows()[0]?.[0])) as Serialized;
  if (root.error !== false) {
    const isParsed = /^Only SELECT statements/.test(root.error_message ?? '');
    return isParsed
      ? { kind: 'other' }
      : { kind: 'wrong', message: root.error_message ?? 'the question cannot be read' };
  }
  const found = { names: new Set<string>(), tableFunctions: new Set<string>() };
  collect(root, found);
  const statements = root.statements?.length ?? 0;
  return statements === 0 ? { kind: 'other' } : { kind: 'select', statements, ...found };
}

function collect(node: unknown, found: { names: Set<string>; tableFunctions: Set<string> }): void {
  if (typeof node !== 'object' || node === null) return;
  const { type, function: called } = node as { type?: unknown; function?: { function_name?: unknown } };
  if (type === 'TABLE_FUNCTION') found.tableFunctions.add(String(called?.function_name).toLowerCase());
  for (const [key, value] of Object.entries(node)) {
    if ((key === 'table_name' || key === 'function_name') && typeof value === 'string')
      found.names.add(value.toLowerCase());
    else collect(value, found);
  }
}
