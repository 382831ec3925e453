/** Writes Value Change Dumps (IEEE 1800, clause 21.7): scopes, variables with short identifiers, changes in order of time. */
import { UscopeError } from '../../base/errors.js';
import { type ByteSink, TextOutput } from '../text/output.js';
import type { Packing } from '../text/unpack.js';

export type VcdKind = 'wire' | 'integer' | 'event' | 'string' | 'real';

export interface VcdVariable {
  readonly name: string;
  readonly kind: VcdKind;
  /** In bits; 1 for events and strings, 64 for reals. */
  readonly width: number;
}

export interface VcdScope {
  readonly name: string;
  readonly scopes: readonly VcdScope[];
  /** Their numbers are those in which they are in the header, scopes first to last, each with its own before those of its scopes. */
  readonly variables: readonly VcdVariable[];
}

export interface VcdHeader {
  /** `1ps`, `10 ns`: 1, 10 or 100 of a unit. */
  readonly timescale: string;
  readonly top: VcdScope;
  /** Plain text, each a `$comment`. */
  readonly comments?: readonly string[];
}

const FIRST_ID = 33;
const ID_LETTERS = 94;
const [LF, BLANK, ZERO, B] = [0x0a, 0x20, 0x30, 0x62];

export class VcdWriter {
  private readonly out: TextOutput;
  private readonly ids: string[] = [];
  private readonly variables: VcdVariable[] = [];
  private readonly widths: number[] = [];
  private time: bigint | null = null;

  /** @throws UscopeError ENV_MISSING for zstd without the optional package, FORMAT_VALUE for a timescale that is none */
  constructor(sink: ByteSink, { timescale, top, comments = [] }: VcdHeader, packing: Packing = 'plain') {
    if (!/^(1|10|100) ?(s|ms|us|ns|ps|fs)$/.test(timescale)) {
      throw new UscopeError(
        'FORMAT_VALUE',
        `"${timescale}" is not a timescale: 1, 10 or 100 of s, ms, us, ns, ps or fs`,
      );
    }
    this.out = new TextOutput(sink, packing);
    for (const comment of comments)
      this.out.text.string(`$comment ${comment.replaceAll('$end', '$ end')} $end\n`);
    this.out.text.string(`$timescale ${timescale} $end\n`);
    this.declare(top);
    this.out.text.string('$enddefinitions $end\n');
  }

  /** Time continues. @throws UscopeError FORMAT_VALUE when it goes back */
  moveTo(time: bigint): void {
    if (time === this.time) return;
    if (this.time !== null && time < this.time)
      throw new UscopeError('FORMAT_VALUE', `time ${time} follows ${this.time}`);
    this.time = time;
    this.out.text.string(`#${time}\n`);
  }

  /** A variable's value, as wide as it is; null: unknown (x). */
  change(variable: number, value: bigint | null): void {
    const { width = 1 } = this.variables[variable] ?? {};
    const { text } = this.out;
    if (width !== 1) text.ascii(`b${value === null ? 'x' : BigInt.asUintN(width, value).toString(2)} `);
    else text.ascii(value === null ? 'x' : (value & 1n) === 0n ? '0' : '1');
    this.endChange(variable);
  }

  /** The same of a variable of at most 64 bits, from the two halves of the value, which fits. */
  change64(variable: number, lo: number, hi: number): void {
    const { text } = this.out;
    if (this.widths[variable] === 1) text.byte(ZERO + (lo & 1));
    else {
      text.byte(B);
      text.binary64(lo, hi);
      text.byte(BLANK);
    }
    this.endChange(variable);
  }

  /** The same of four states: of the bits in `unknown` those of `value` say which are x (1) and z (0). */
  changeFourState(variable: number, value: bigint, unknown: bigint): void {
    const { width = 1 } = this.variables[variable] ?? {};
    const { text } = this.out;
    text.byte(B);
    for (let bit = width - 1; bit >= 0; bit--) {
      const isSet = ((value >> BigInt(bit)) & 1n) === 1n;
      const isUnknown = ((unknown >> BigInt(bit)) & 1n) === 1n;
      text.ascii(isUnknown ? (isSet ? 'x' : 'z') : isSet ? '1' : '0');
    }
    text.byte(BLANK);
    this.endChange(variable);
  }

  /** An event happens. */
  trigger(variable: number): void {
    this.out.text.byte(ZERO + 1);
    this.endChange(variable);
  }

  /** Text, as GTKWave and Surfer take it: no blanks. */
  text(variable: number, text: string): void {
    this.out.text.string(`s${text.replace(BLANKS, '_')} `);
    this.endChange(variable);
  }

  /** A real, with the digits that give the same double again. */
  real(variable: number, value: number): void {
    this.out.text.ascii(`r${Number.isFinite(value) ? value : realName(value)} `);
    this.endChange(variable);
  }

  /** Around the values that all variables begin with. */
  beginValues(): void {
    this.out.text.string('$dumpvars\n');
  }

  endValues(): void {
    this.out.text.string('$end\n');
  }

  /** Whether `drain` is due. */
  get isFull(): boolean {
    return this.out.isFull;
  }

  drain(): Promise<void> {
    return this.out.drain();
  }

  end(): Promise<void> {
    return this.out.end();
  }

  private endChange(variable: number): void {
    const { text } = this.out;
    text.ascii(this.ids[variable] ?? '');
    text.byte(LF);
  }

  private declare({ name, scopes, variables }: VcdScope): void {
    this.out.text.string(`$scope module ${identifier(name)} $end\n`);
    for (const variable of variables) {
      const id = shortId(this.ids.length);
      this.ids.push(id);
      this.variables.push(variable);
      this.widths.push(variable.width);
      const range = variable.width > 1 && variable.kind !== 'real' ? ` [${variable.width - 1}:0]` : '';
      this.out.text.string(
        `$var ${variable.kind} ${variable.width} ${id} ${identifier(variable.name)}${range} $end\n`,
      );
    }
    for (const scope of scopes) this.declare(scope);
    this.out.text.string('$upscope $end\n');
  }
}

/** What ends a word of the file. */
const BLANKS = /[\s\p{Cc}]/gu;
/** What readers take for a command, an escape or a range at the start or end of a name. */
const ESCAPED = /^[$\\]|\[[^[\]]*\]$/;

/** A name without blanks; an escaped identifier where it would be something else (IEEE 1800, clause 5.6.1). */
function identifier(name: string): string {
  const word = name.replace(BLANKS, '_') || '_';
  return ESCAPED.test(word) ? `\\${word}` : word;
}

/** Printable characters from `!` to `~`, the shortest first. */
export function shortId(number: number): string {
  let id = '';
  for (let rest = number; ; rest = Math.floor(rest / ID_LETTERS) - 1) {
    id += String.fromCharCode(FIRST_ID + (rest % ID_LETTERS));
    if (rest < ID_LETTERS) return id;
  }
}

/** The form in which C prints what is not a finite number, and in which readers of dumps take it. */
function realName(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}
