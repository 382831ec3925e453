/** What rules make of texts, names and addresses of code. */
import type { Pseudonyms } from './pseudonyms.js';
import type { PcRule, RedactionRules } from './rules.js';

/** A number as disassemblers, annotations and symbols write addresses. */
const HEXADECIMAL = /\b(0[xX])?([0-9a-fA-F]{3,16})\b/g;

export class TextEdits {
  /** Texts that were changed. */
  changed = 0;

  constructor(
    private readonly rules: Pick<RedactionRules, 'texts' | 'pcs'>,
    private readonly pseudonyms: Pseudonyms,
  ) {}

  edit(text: string): string {
    const { texts, pcs } = this.rules;
    let edited =
      pcs.length > 0
        ? text.replace(HEXADECIMAL, (word, prefix, digits) => this.address(word, prefix ?? '', digits))
        : text;
    for (const { match, replace } of texts)
      edited = edited.replace(match, (found) => replace ?? this.pseudonyms.word(found));
    if (edited !== text) this.changed++;
    return edited;
  }

  /** An address of code. */
  pc(value: bigint): bigint {
    const rule = this.ruleOf(value);
    if (!rule) return value;
    return rule.base === null ? 0n : rule.base + (value - rule.from);
  }

  private address(word: string, prefix: string, digits: string): string {
    const value = BigInt(`0x${digits}`);
    if (!this.ruleOf(value)) return word;
    return prefix + this.pc(value).toString(16).padStart(digits.length, '0');
  }

  private ruleOf(value: bigint): PcRule | undefined {
    return this.rules.pcs.find(({ from, until }) => value >= from && value < until);
  }
}
