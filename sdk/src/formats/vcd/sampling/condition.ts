/** Conditions of a map, such as `valid & ready & !flush` or `(state == 3 | state == 4) & go`. */
import { UscopeError } from '../../../base/errors.js';
import type { Probe } from './run.js';

export type Condition = () => boolean;

/** A name of the waveform as a condition takes it. */
export const conditionName = (name: string): string =>
  PLAIN_NAME.test(name) ? name : name.includes('"') ? `'${name}'` : `"${name}"`;

const PLAIN_NAME = /^[A-Za-z_][\w$.]*(?:\[[\d:]+\](?:\.[\w$]+)*)*$/;
const WORDS =
  /\s*(?:(\d[\w']*)|("[^"]+"(?:\[[\d:]+\])?|'[^']+'(?:\[[\d:]+\])?)|([A-Za-z_\\][\w$.\\]*(?:\[[\d:]+\](?:\.[\w$]+)*)*)|(==|!=|&&?|\|\|?|!|~|\(|\)))/y;

/**
 * @param probe the signal of a name
 * @throws UscopeError CONVERT_OPTION
 */
export function parseCondition(text: string, probe: (name: string) => Probe): Condition {
  return new ConditionParser(text, probe).parse();
}

/** `12`, `0x1f`, `0b101`, `4'b1010`, `8'hff`. NaN: none of them. */
export function parseNumber(text: string): number {
  const [, base, digits] = /^\d+'[sS]?([bodhBODH])([0-9a-fA-F_]+)$/.exec(text) ?? [];
  if (digits === undefined) return Number(text.replaceAll('_', ''));
  const radix = { b: 2, o: 8, d: 10, h: 16 }[base.toLowerCase() as 'b' | 'o' | 'd' | 'h'];
  return Number.parseInt(digits.replaceAll('_', ''), radix);
}

class ConditionParser {
  private readonly words: string[];
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly probe: (name: string) => Probe,
  ) {
    this.words = this.split();
  }

  parse(): Condition {
    const condition = this.or();
    if (this.at < this.words.length) this.fail();
    return condition;
  }

  private split(): string[] {
    const words: string[] = [];
    WORDS.lastIndex = 0;
    while (this.text.slice(WORDS.lastIndex).trim() !== '') {
      const from = WORDS.lastIndex;
      const match = WORDS.exec(this.text);
      if (!match) {
        throw new UscopeError(
          'CONVERT_OPTION',
          `the condition "${this.text}" cannot be read from "${this.text.slice(from).trim()}" on; it has names, numbers, ! & | == != and parentheses; a name with other characters needs quotation marks: "a/b[x]"`,
        );
      }
      words.push(match[0].trim());
    }
    return words;
  }

  private or(): Condition {
    let left = this.and();
    while (/^\|\|?$/.test(this.words[this.at] ?? '')) {
      this.at++;
      const [a, b] = [left, this.and()];
      left = () => a() || b();
    }
    return left;
  }

  private and(): Condition {
    let left = this.not();
    while (/^&&?$/.test(this.words[this.at] ?? '')) {
      this.at++;
      const [a, b] = [left, this.not()];
      left = () => a() && b();
    }
    return left;
  }

  private not(): Condition {
    const word = this.words[this.at] ?? '';
    if (word === '!' || word === '~') {
      this.at++;
      return this.inverted();
    }
    return this.comparison();
  }

  /** An unknown bit is neither set nor not set: `!x` is false. */
  private inverted(): Condition {
    if (this.words[this.at] === '(' || this.words[this.at] === '!' || this.words[this.at] === '~') {
      const inner = this.not();
      return () => !inner();
    }
    const probe = this.name();
    return () => !probe.isUnknown() && probe.low() === 0 && probe.high() === 0;
  }

  private comparison(): Condition {
    if (this.words[this.at] === '(') {
      this.at++;
      const inner = this.or();
      if (this.words[this.at++] !== ')') this.fail();
      return inner;
    }
    const probe = this.name();
    const operator = this.words[this.at];
    if (operator !== '==' && operator !== '!=') {
      return () => !probe.isUnknown() && (probe.low() !== 0 || probe.high() !== 0);
    }
    this.at++;
    const number = parseNumber(this.words[this.at++] ?? '');
    if (!Number.isSafeInteger(number)) this.fail();
    const isEqual = operator === '==';
    return () => !probe.isUnknown() && (probe.value() === number) === isEqual;
  }

  private name(): Probe {
    const word = this.words[this.at++] ?? '';
    if (!/^[A-Za-z_\\"']/.test(word)) this.fail();
    return this.probe(word);
  }

  private fail(): never {
    throw new UscopeError(
      'CONVERT_OPTION',
      `the condition "${this.text}" is not complete; write it like "valid & !stall & (state == 3 | go)"`,
    );
  }
}
