/** What is searched for: a text, addresses, or events, as one string. */
import { UscopeError } from '../../base/errors.js';

export interface PatternOptions {
  /** Upper and lower case are the same. */
  readonly ignoreCase?: boolean | undefined;
  /** The text is no regular expression: every character means itself. */
  readonly fixed?: boolean | undefined;
}

/** A field of an event and its value: a label, a string or a number. */
export interface FieldCondition {
  readonly field: string;
  readonly value: string;
  /** `value` as a number; null: it is none. */
  readonly number: bigint | null;
}

export type Pattern =
  /** In disassembly and annotations. */
  | { readonly kind: 'text'; readonly text: RegExp }
  /** Addresses of instructions, both inclusive. */
  | { readonly kind: 'pc'; readonly first: bigint; readonly last: bigint }
  /** `role`: the events of this name of the cores, instead of those that `name` names. */
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly role: 'flush' | 'stall' | null;
      readonly conditions: readonly FieldCondition[];
    };

const ADDRESS = /^(0[xX][0-9a-fA-F_]+|[\d_]+)(?:(?:-|\.\.)(0[xX][0-9a-fA-F_]+|[\d_]+))?$/;
const NUMBER = /^(-?\d+|0[xX][0-9a-fA-F]+)$/;
const MAX_LENGTH = 4096;

/**
 * `pc:0x80000000`, `pc:0x80000000-0x800000ff`; `event:NAME`, `event:NAME field=value …`; `stall:REASON`, `flush:REASON` (`stall:` and `flush:`: any);
 * anything else, also after `text:`, is a regular expression.
 * @throws UscopeError READER_PATTERN
 */
export function parsePattern(source: string, options: PatternOptions = {}): Pattern {
  if (source.length > MAX_LENGTH) fail(source, `it is longer than ${MAX_LENGTH} characters`);
  const [, kind, rest = ''] = /^(pc|event|stall|flush|text):(.*)$/s.exec(source) ?? [null, 'text', source];
  switch (kind) {
    case 'pc':
      return parseAddresses(source, rest.trim());
    case 'event':
      return parseEvent(source, rest);
    case 'stall':
    case 'flush':
      return { kind: 'event', name: kind, role: kind, conditions: reasonOf(rest.trim()) };
    default:
      return { kind: 'text', text: parseText(source, rest, options) };
  }
}

function parseText(source: string, text: string, { ignoreCase, fixed }: PatternOptions): RegExp {
  if (text === '') fail(source, 'it is empty');
  const escaped = fixed ? text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') : text;
  try {
    // Without `u` a hyphen may be escaped anywhere; without `g` a test does not depend on the one before.
    return new RegExp(escaped, ignoreCase ? 'i' : '');
  } catch (error) {
    return fail(source, `${(error as Error).message}; --fixed takes it as it is`);
  }
}

function parseAddresses(source: string, text: string): Pattern {
  const match = ADDRESS.exec(text);
  if (!match) return fail(source, 'write pc:0x80000000 or pc:0x80000000-0x800000ff');
  const [first, last] = [match[1], match[2] ?? match[1]].map((one) => BigInt(one.replaceAll('_', '')));
  if (last < first) fail(source, 'the last address is below the first');
  return { kind: 'pc', first, last };
}

function parseEvent(source: string, text: string): Pattern {
  const [name = '', ...conditions] = text.trim().split(/\s+/);
  if (name === '') return fail(source, 'write event:NAME or event:NAME field=value');
  return {
    kind: 'event',
    name,
    role: null,
    conditions: conditions.map((one) => {
      const equals = one.indexOf('=');
      if (equals <= 0) return fail(source, `"${one}" is not of the form field=value`);
      return condition(one.slice(0, equals), one.slice(equals + 1));
    }),
  };
}

const reasonOf = (reason: string): FieldCondition[] => (reason === '' ? [] : [condition('reason', reason)]);

function condition(field: string, value: string): FieldCondition {
  return { field, value, number: NUMBER.test(value) ? BigInt(value) : null };
}

function fail(source: string, problem: string): never {
  const shown = source.length > 80 ? `${source.slice(0, 77)}…` : source;
  throw new UscopeError('READER_PATTERN', `the pattern "${shown}" cannot be used: ${problem}`);
}
