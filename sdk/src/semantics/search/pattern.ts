/** What is searched for, as one string: terms that must all hold. */
import { UscopeError } from '../../base/errors.js';

export interface PatternOptions {
  /** Upper and lower case are the same. */
  readonly ignoreCase?: boolean | undefined;
  /** The text is not a regular expression: every character means itself. */
  readonly fixed?: boolean | undefined;
}

/** A field of an event and its value: a label, a string or a number. */
export interface FieldCondition {
  readonly field: string;
  readonly value: string;
  /** `value` as a number; null: it is none. */
  readonly number: bigint | null;
}

/** In disassembly and annotations. */
export interface TextTerm {
  readonly kind: 'text';
  readonly text: RegExp;
}

/** Both ends inclusive. */
export interface NumberRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Addresses, numbers of instructions in the trace, or numbers among the retired ones in program order. */
export interface NumberTerm extends NumberRange {
  readonly kind: 'pc' | 'seq' | 'retired';
  /** Of addresses: other ranges that are meant, too. */
  readonly more?: readonly NumberRange[];
}

export interface EventTerm {
  readonly kind: 'event';
  readonly name: string;
  /** The events of this name of the cores, instead of those that `name` names. */
  readonly role: 'flush' | 'stall' | null;
  readonly conditions: readonly FieldCondition[];
}

export type Term = TextTerm | NumberTerm | EventTerm;

/** One event term alone finds events; anything else finds the instructions for which all terms hold. */
export interface Pattern {
  readonly terms: readonly Term[];
  readonly finds: 'events' | 'instructions';
}

export const QUALIFIERS = ['pc', 'seq', 'retired', 'stall', 'flush', 'event', 'text'] as const;
export type Qualifier = (typeof QUALIFIERS)[number];

const NUMBER = '0[xX][0-9a-fA-F_]+|\\d[\\d_]*';
const NUMBERS = new RegExp(`^(${NUMBER})(?:(?:-|\\.\\.)(${NUMBER}))?$`);
const VALUE = /^(-?\d+|0[xX][0-9a-fA-F]+)$/;
const QUALIFIER = new RegExp(`(?:^|\\s)(${QUALIFIERS.join('|')}):`, 'g');
/** After a qualifier or an equals sign. */
const WORD = /"([^"]*)"|[^\s"]*/y;
const CONDITION = /\s+([A-Za-z_]\w*)=/y;
const MAX_LENGTH = 4096;

const EXAMPLES = {
  pc: 'write pc:0x80000000 or pc:0x80000000-0x800000ff',
  seq: 'write seq:1200 or seq:1200-1299',
  retired: 'write retired:1000 or retired:1000-1099',
} as const;

/**
 * Terms with blanks between them: `pc:0x80000000`, `pc:0x80000000-0x800000ff,0x80000200`; `seq:1200-1299`, `retired:1000`; `event:NAME`,
 * `event:NAME field=value …`; `stall:REASON`, `flush:REASON` (`stall:` and `flush:`: any). A value with blanks is written in double quotes. What
 * is between them, and all that follows `text:`, is a regular expression.
 * @throws UscopeError READER_PATTERN
 */
export function parsePattern(source: string, options: PatternOptions = {}): Pattern {
  if (source.length > MAX_LENGTH) fail(source, `it is longer than ${MAX_LENGTH} characters`);
  const terms = new PatternParser(source, options).terms();
  const [first] = terms;
  if (!first) return fail(source, 'it is empty');
  return { terms, finds: terms.length === 1 && first.kind === 'event' ? 'events' : 'instructions' };
}

class PatternParser {
  private at = 0;

  constructor(
    private readonly source: string,
    private readonly options: PatternOptions,
  ) {}

  terms(): Term[] {
    const { source } = this;
    const terms: Term[] = [];
    while (this.at < source.length) {
      QUALIFIER.lastIndex = this.at;
      const next = QUALIFIER.exec(source);
      const text = source.slice(this.at, next?.index ?? source.length);
      // A pattern without qualifiers is the expression as it is, blanks too.
      if (text.trim() !== '') terms.push(this.text(next || this.at > 0 ? text.trim() : text));
      if (!next) break;
      this.at = next.index + next[0].length;
      terms.push(this.qualified(next[1] as Qualifier));
    }
    return terms;
  }

  private qualified(qualifier: Qualifier): Term {
    switch (qualifier) {
      case 'text': {
        const rest = this.source.slice(this.at);
        this.at = this.source.length;
        return this.text(rest);
      }
      case 'pc':
      case 'seq':
      case 'retired':
        return this.numbers(qualifier, this.word());
      case 'event':
        return this.event(this.word());
      default: {
        const reason = this.word();
        const conditions = reason === '' ? [] : [condition('reason', reason)];
        return { kind: 'event', name: qualifier, role: qualifier, conditions };
      }
    }
  }

  private word(): string {
    WORD.lastIndex = this.at;
    const match = WORD.exec(this.source);
    this.at = WORD.lastIndex;
    if (this.source[this.at] === '"')
      fail(this.source, 'a double quote is not closed, or not at the start of a value');
    return match?.[1] ?? match?.[0] ?? '';
  }

  private text(text: string): TextTerm {
    const { source } = this;
    const { fixed, ignoreCase } = this.options;
    if (text === '') fail(source, 'it is empty');
    const escaped = fixed ? text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') : text;
    try {
      // Without `u` a hyphen may be escaped anywhere; without `g` a test does not depend on the one before.
      return { kind: 'text', text: new RegExp(escaped, ignoreCase ? 'i' : '') };
    } catch (error) {
      return fail(source, `${(error as Error).message}; --fixed takes it as it is`);
    }
  }

  private numbers(kind: NumberTerm['kind'], text: string): NumberTerm {
    const [range, ...more] = (kind === 'pc' ? text.split(',') : [text]).map((one) => this.range(kind, one));
    return more.length === 0 ? { kind, ...range } : { kind, ...range, more };
  }

  private range(kind: NumberTerm['kind'], text: string): NumberRange {
    const match = NUMBERS.exec(text);
    if (!match) return fail(this.source, EXAMPLES[kind]);
    const [first, last] = [match[1], match[2] ?? match[1]].map((one) => BigInt(one.replaceAll('_', '')));
    if (last < first) fail(this.source, `the last number after ${kind}: is below the first`);
    return { first, last };
  }

  private event(name: string): EventTerm {
    if (name === '') return fail(this.source, 'write event:NAME or event:NAME field=value');
    const conditions: FieldCondition[] = [];
    for (;;) {
      CONDITION.lastIndex = this.at;
      const match = CONDITION.exec(this.source);
      if (!match) return { kind: 'event', name, role: null, conditions };
      this.at = CONDITION.lastIndex;
      conditions.push(condition(match[1], this.word()));
    }
  }
}

function condition(field: string, value: string): FieldCondition {
  return { field, value, number: VALUE.test(value) ? BigInt(value) : null };
}

function fail(source: string, problem: string): never {
  const shown = source.length > 80 ? `${source.slice(0, 77)}…` : source;
  throw new UscopeError('READER_PATTERN', `the pattern "${shown}" cannot be used: ${problem}`);
}
