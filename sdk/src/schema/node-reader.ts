/** Reads the small pieces of the grammar, and reports what is something else. */
import type { Node } from 'yaml';
import type { ErrorPlace } from '../base/errors.js';
import type { Problems } from './problems.js';
import { didYouMean, listed } from './suggest.js';
import type { Entry, YamlSource } from './yaml-source.js';

export type FixedKeys = ReadonlyMap<string, Entry>;

export class NodeReader {
  constructor(
    readonly source: YamlSource,
    readonly problems: Problems,
  ) {}

  place(node: Node | null): ErrorPlace {
    return this.source.place(node);
  }

  /** A mapping whose keys are words of the grammar; reports the ones that are not. */
  fixedKeys(
    node: Node | null,
    what: string,
    known: readonly string[],
    allowEmpty = true,
  ): FixedKeys | undefined {
    const entries = this.source.entries(node, what, allowEmpty);
    if (!entries) return undefined;
    const keys = new Map<string, Entry>();
    for (const entry of entries) {
      if (known.includes(entry.key)) keys.set(entry.key, entry);
      else {
        const detail = `unknown key "${entry.key}" in ${what}.${didYouMean(entry.key, known)} Keys are ${known.join(', ')}.`;
        this.problems.add('SCHEMA_KEY', detail, this.source.place(entry.keyNode));
      }
    }
    return keys;
  }

  entriesOf(entry: Entry | undefined, what: string): Entry[] {
    return (entry && this.source.entries(entry.value, what)) ?? [];
  }

  text(node: Node | null, keyNode: Node, what: string): string | undefined {
    const scalar = this.source.scalar(node);
    if (scalar) return scalar.text;
    this.problems.add(
      'SCHEMA_TYPE',
      `${what} must be text, not ${this.source.describe(node)}`,
      this.source.place(node ?? keyNode),
    );
    return undefined;
  }

  integer(entry: Entry, what: string): number | undefined {
    const scalar = this.source.scalar(entry.value);
    if (scalar?.plain && /^(-?[0-9]{1,15}|0x[0-9a-fA-F]{1,12})$/.test(scalar.text))
      return Number(scalar.text);
    const detail = `${what} must be a whole number, not ${this.source.describe(entry.value)}`;
    this.problems.add('SCHEMA_TYPE', detail, this.source.place(entry.value ?? entry.keyNode));
    return undefined;
  }

  word(entry: Entry, words: ReadonlyMap<string, number>, key: string, what: string): number | undefined {
    const text = this.text(entry.value, entry.keyNode, `"${key}" of ${what}`);
    if (text === undefined) return undefined;
    const value = words.get(text);
    if (value === undefined) {
      const known = [...words.keys()];
      const detail = `${what} has the unknown ${key} "${text}".${didYouMean(text, known)} It is one of ${listed(known)}.`;
      this.problems.add('SCHEMA_TYPE', detail, this.source.place(entry.value));
    }
    return value;
  }

  missing(what: string, key: string, hint: string, node: Node): void {
    this.problems.add('SCHEMA_MISSING', `${what} has no "${key}"; give ${hint}`, this.source.place(node));
  }
}
