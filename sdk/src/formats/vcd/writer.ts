/** Writes Value Change Dumps (IEEE 1800, clause 21.7): scopes, variables with short identifiers, changes in order of time. */
import { UscopeError } from '../../base/errors.js';
import { type ByteSink, TextOutput } from '../text/output.js';
import type { Packing } from '../text/unpack.js';

export type VcdKind = 'wire' | 'integer' | 'event' | 'string';

export interface VcdVariable {
  readonly name: string;
  readonly kind: VcdKind;
  /** In bits; 1 for events and strings. */
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

export class VcdWriter {
  private readonly out: TextOutput;
  private readonly ids: string[] = [];
  private readonly variables: VcdVariable[] = [];
  private time: bigint | null = null;

  /** @throws UscopeError ENV_MISSING for zstd without the optional package, FORMAT_VALUE for a timescale that is none */
  constructor(sink: ByteSink, { timescale, top, comments = [] }: VcdHeader, packing: Packing = 'plain') {
    if (!/^(1|10|100) ?(s|ms|us|ns|ps|fs)$/.test(timescale)) {
      throw new UscopeError(
        'FORMAT_VALUE',
        `"${timescale}" is no timescale: 1, 10 or 100 of s, ms, us, ns, ps or fs`,
      );
    }
    this.out = new TextOutput(sink, packing);
    for (const comment of comments) this.out.add(`$comment ${comment.replaceAll('$end', '$ end')} $end\n`);
    this.out.add(`$timescale ${timescale} $end\n`);
    this.declare(top);
    this.out.add('$enddefinitions $end\n');
  }

  /** Time continues. @throws UscopeError FORMAT_VALUE when it goes back */
  moveTo(time: bigint): void {
    if (time === this.time) return;
    if (this.time !== null && time < this.time)
      throw new UscopeError('FORMAT_VALUE', `time ${time} follows ${this.time}`);
    this.time = time;
    this.out.add(`#${time}\n`);
  }

  /** A variable's value, as wide as it is; null: unknown (x). */
  change(variable: number, value: bigint | null): void {
    const id = this.ids[variable] ?? '';
    const { width = 1 } = this.variables[variable] ?? {};
    if (width === 1) this.out.add(`${value === null ? 'x' : value & 1n}${id}\n`);
    else this.out.add(`b${value === null ? 'x' : BigInt.asUintN(width, value).toString(2)} ${id}\n`);
  }

  /** An event happens. */
  trigger(variable: number): void {
    this.out.add(`1${this.ids[variable] ?? ''}\n`);
  }

  /** Text, as GTKWave and Surfer take it: no blanks. */
  text(variable: number, text: string): void {
    this.out.add(`s${text.replace(/\s/g, '_')} ${this.ids[variable] ?? ''}\n`);
  }

  /** Around the values that all variables begin with. */
  beginValues(): void {
    this.out.add('$dumpvars\n');
  }

  endValues(): void {
    this.out.add('$end\n');
  }

  drain(): Promise<void> {
    return this.out.drain();
  }

  end(): Promise<void> {
    return this.out.end();
  }

  private declare({ name, scopes, variables }: VcdScope): void {
    this.out.add(`$scope module ${identifier(name)} $end\n`);
    for (const variable of variables) {
      const id = shortId(this.ids.length);
      this.ids.push(id);
      this.variables.push(variable);
      const range = variable.width > 1 ? ` [${variable.width - 1}:0]` : '';
      this.out.add(
        `$var ${variable.kind} ${variable.width} ${id} ${identifier(variable.name)}${range} $end\n`,
      );
    }
    for (const scope of scopes) this.declare(scope);
    this.out.add('$upscope $end\n');
  }
}

/** Names hold no blanks. */
function identifier(name: string): string {
  return name.replace(/\s/g, '_') || '_';
}

/** Printable characters from `!` to `~`, the shortest first. */
export function shortId(number: number): string {
  let id = '';
  for (let rest = number; ; rest = Math.floor(rest / ID_LETTERS) - 1) {
    id += String.fromCharCode(FIRST_ID + (rest % ID_LETTERS));
    if (rest < ID_LETTERS) return id;
  }
}
