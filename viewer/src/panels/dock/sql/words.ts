/** What a question may name, and the word that is being typed in it. */

export interface SqlNames {
  readonly columns: readonly { readonly table: string; readonly column: string }[];
  readonly questions: readonly { readonly name: string; readonly summary: string }[];
}

interface Word {
  readonly text: string;
  /** What it is: `table`, `column of …`, or what a ready-made question answers. */
  readonly hint: string;
}

const MAX_SHOWN = 8;
const VARIABLES: readonly Word[] = [
  { text: '$from', hint: 'first cycle of what is shown' },
  { text: '$to', hint: 'the cycle after it' },
];

/** All words, each once: tables, ready-made questions, columns. */
export function wordsOf({ columns, questions }: SqlNames): Word[] {
  const tablesOf = new Map<string, string[]>();
  for (const { table, column } of columns) tablesOf.set(column, [...(tablesOf.get(column) ?? []), table]);
  const tables = [...new Set(columns.map(({ table }) => table))];
  return [
    ...tables.map((text) => ({ text, hint: 'table' })),
    ...questions.map(({ name, summary }) => ({ text: `${name}(`, hint: answerOf(summary) })),
    ...[...tablesOf].map(([text, of]) => ({
      text,
      hint: of.length > 3 ? 'column' : `column of ${of.join(', ')}`,
    })),
    ...VARIABLES,
  ];
}

/** Those that begin with what is before the cursor, and where that begins. */
export function completions(
  words: readonly Word[],
  text: string,
  cursor: number,
): { readonly from: number; readonly words: readonly Word[] } {
  const typed = /[$\w]*$/.exec(text.slice(0, cursor))![0].toLowerCase();
  const from = cursor - typed.length;
  if (typed === '') return { from, words: [] };
  const found = words.filter((word) => word.text.startsWith(typed) && word.text !== typed);
  return { from, words: found.slice(0, MAX_SHOWN) };
}

const DEFAULTS: Readonly<Record<string, string>> = { n: '20', cycles: '1000' };

/** Ready-made questions that one run answers, as they are asked: `from hot_pcs(20)`. */
export function readyMade({ questions }: SqlNames): Word[] {
  return questions.flatMap(({ summary }) => {
    const [, name, given] = /^(\w+)\((.*?)\):/.exec(summary) ?? [];
    if (name === undefined || OF_MANY.test(name)) return [];
    const names = given!
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
    if (names.some((one) => DEFAULTS[one] === undefined)) return [];
    return [
      { text: `from ${name}(${names.map((one) => DEFAULTS[one]).join(', ')})`, hint: answerOf(summary) },
    ];
  });
}

/** About several runs, or what the others are made of. */
const OF_MANY = /^(compare|regressions|workloads)/;

const answerOf = (summary: string): string => summary.slice(summary.indexOf(':') + 1).trim();
