/** Lines that have the shape of data and are not understood: each costs only itself, is counted, and the first is quoted. */
import { UscopeError } from '../../base/errors.js';
import type { ConversionContext, FormatOption, InfoSection } from '../common/foreign-format.js';

const DEFAULT_PERCENT = 10;
const QUOTED_BYTES = 80;
const decoder = new TextDecoder();

/** Every importer of text that counts such lines has it. */
export const UNKNOWN_OPTION: FormatOption = {
  name: 'unknown',
  help: `percent of the lines with data that may be not understood; above it the import fails; default ${DEFAULT_PERCENT}`,
  direction: 'import',
};

export class UnknownLines {
  count = 0;
  private first: { readonly quote: string; readonly offset: number } | null = null;

  /** @param offset of the line in the unpacked text */
  note(bytes: Uint8Array, from: number, to: number, offset: number): void {
    this.count++;
    this.first ??= {
      quote: JSON.stringify(decoder.decode(bytes.subarray(from, Math.min(to, from + QUOTED_BYTES)))),
      offset,
    };
  }

  get info(): InfoSection['rows'][number] {
    return ['lines not understood', this.first ? `${this.count}, ${this.place}` : '0'];
  }

  /**
   * After a whole pass. @param understood lines with data that were understood
   * @throws UscopeError CONVERT_FORMAT above the share of the option, CONVERT_OPTION
   */
  check(understood: number, options: ConversionContext['options']): void {
    const allowed = percentOf(options);
    const percent = (100 * this.count) / Math.max(1, this.count + understood);
    if (!this.first || percent <= allowed) return;
    throw new UscopeError(
      'CONVERT_FORMAT',
      `${this.count} of ${this.count + understood} lines with data are not understood, and ${allowed} % may be (--opt unknown=PERCENT); the first is ${this.first.quote}`,
      { offset: this.first.offset },
    );
  }

  tell({ report, onWarning }: ConversionContext): void {
    if (!this.first) return;
    report.dropped('lines not understood', `they look like data; ${this.place}`).count += this.count;
    onWarning?.(`${this.count} lines look like data and are not understood; ${this.place}`);
  }

  private get place(): string {
    return `the first, at offset ${this.first?.offset}, is ${this.first?.quote}`;
  }
}

function percentOf(options: ConversionContext['options']): number {
  const text = options.get(UNKNOWN_OPTION.name);
  if (text === undefined) return DEFAULT_PERCENT;
  if (/^\d{1,3}(\.\d+)?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new UscopeError('CONVERT_OPTION', `unknown=${text}: it is a percentage, such as 10`);
}
