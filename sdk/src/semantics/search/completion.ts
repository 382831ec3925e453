/** What may be written at a place of a pattern. */
import { FieldType } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../cpu/cores.js';
import { QUALIFIERS, type Qualifier } from './pattern.js';

/** What a trace has that patterns can name. */
export interface SearchNames {
  readonly stalls: readonly string[];
  readonly flushes: readonly string[];
  readonly events: readonly string[];
  /** By name of the event, its fields and the labels of each. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

export interface Completion {
  /** What is inserted: a qualifier with its colon, or a value. */
  readonly text: string;
  /** What it means. */
  readonly hint: string;
}

export interface Completions {
  /** The part of the pattern that a completion replaces. */
  readonly from: number;
  readonly to: number;
  readonly choices: readonly Completion[];
}

const HINTS: Readonly<Record<Qualifier, string>> = {
  pc: 'address, or first-last',
  seq: 'number of the instruction, or first-last',
  retired: 'number among the retired ones, or first-last',
  stall: 'reason; empty: any',
  flush: 'reason; empty: any',
  event: 'name, then field=value',
  text: 'the rest is a regular expression',
};

/** Labels and event names of a trace. @param core whose reasons; null: the trace has none */
export function searchNames(trace: Trace, core: CpuCore | null): SearchNames {
  const { schema, names } = trace;
  const labels = (role: 'stall' | 'flush'): string[] => [
    ...new Set(
      core?.events
        .get(role)
        ?.fields.get('reason')
        ?.labels?.values.map(({ name }) => name) ?? [],
    ),
  ];
  const isAmbiguous = (name: string): boolean => schema.events.filter((def) => def.name === name).length > 1;
  const fields: Record<string, Record<string, readonly string[]>> = {};
  for (const def of schema.events) {
    const own = Object.fromEntries(
      def.fields.map(({ name, type, enumId }) => {
        const labels = type === FieldType.ENUM ? schema.enums[enumId]?.values : undefined;
        return [name, labels?.map((label) => label.name) ?? []];
      }),
    );
    for (const name of [def.name, names.eventNames[def.eventTypeId]]) fields[name] ??= own;
  }
  const events = schema.events.map((def) =>
    isAmbiguous(def.name) ? names.eventNames[def.eventTypeId] : def.name,
  );
  return { stalls: labels('stall'), flushes: labels('flush'), events: [...new Set(events)].sort(), fields };
}

/** What may be written where the caret is: qualifiers, reasons, events, fields and their labels. Empty within an expression or a number. */
export function completionsOf(source: string, caret: number, names: SearchNames): Completions {
  const before = source.slice(0, caret);
  const isExpression = /(?:^|\s)text:/.test(before);
  const from = before.search(/(?:"[^"]*|[^\s"]*)$/);
  const word = before.slice(from);
  const to = caret + (/^[^\s"]*/.exec(source.slice(caret))?.[0].length ?? 0);
  if (isExpression) return { from, to, choices: [] };
  const reason = /^(stall|flush|event):(.*)$/s.exec(word);
  if (reason) {
    const [, qualifier, begun] = reason;
    const choices = { stall: names.stalls, flush: names.flushes, event: names.events }[qualifier as 'stall'];
    return values(from + qualifier.length + 1, to, choices, begun, qualifier);
  }
  const fields = names.fields[/(?:^|\s)event:(\S+)(?:\s+\w+=\S*)*\s+\S*$/.exec(before)?.[1] ?? ''];
  const field = /^(\w+)=(.*)$/s.exec(word);
  if (fields && field)
    return values(from + field[1].length + 1, to, fields[field[1]] ?? [], field[2], field[1]);
  const named = Object.keys(fields ?? {}).map((name) => ({ text: `${name}=`, hint: 'field of the event' }));
  const qualifiers = QUALIFIERS.map((name) => ({ text: `${name}:`, hint: HINTS[name] }));
  const choices = [...named, ...qualifiers].filter(({ text }) => text.startsWith(word) && text !== word);
  return { from, to, choices };
}

function values(
  from: number,
  to: number,
  names: readonly string[],
  begun: string,
  hint: string,
): Completions {
  const wanted = begun.replace(/^"/, '').toLowerCase();
  const rank = (name: string): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  const choices = names
    .filter((name) => name.toLowerCase().includes(wanted) && name !== wanted)
    .map((name) => ({ text: /\s/.test(name) ? `"${name}"` : name, hint }))
    .sort((a, b) => rank(a.text) - rank(b.text));
  return { from, to, choices };
}
