/** Which tables a question can need: a view of a thousand files takes time, and a table of a trace even more. */
import { TABLES, type TableName } from './layout.js';
import type { Macro } from './macros.js';

/** Questions about the tables themselves. */
const CATALOG = /\b(information_schema|duckdb_\w+|pg_catalog|sqlite_master|show|describe|summarize)\b/i;

/** Tables whose names are in a question, or in the ready-made questions that it names, directly or through others. */
export function tablesIn(question: string, macros: readonly Macro[]): TableName[] {
  const texts = [question];
  const asked = new Set<string>();
  for (let at = 0; at < texts.length; at++) {
    for (const { name, sql } of macros) {
      if (asked.has(name) || !hasWord(texts[at], name)) continue;
      asked.add(name);
      texts.push(sql);
    }
  }
  return TABLES.filter((table) => texts.some((text) => hasWord(text, table)));
}

/** Tables whose views a question reads: all, when it asks what there is. */
export function viewsIn(question: string, macros: readonly Macro[]): readonly TableName[] {
  const tables = tablesIn(question, macros);
  return tables.length === 0 && CATALOG.test(question) ? TABLES : tables;
}

const hasWord = (text: string, word: string): boolean => new RegExp(`\\b${word}\\b`, 'i').test(text);
