/** Writes VCD for tests: signals by path, and their values step by step. */

export interface VcdSignalSpec {
  readonly path: string;
  readonly width: number;
  readonly kind?: string;
}

export class VcdText {
  private readonly codes = new Map<string, { code: string; width: number }>();
  private readonly last = new Map<string, string>();
  private readonly parts: string[] = [];

  constructor(signals: readonly VcdSignalSpec[], timescale = '1ns') {
    this.parts.push(`$date now $end\n$timescale ${timescale} $end\n`);
    signals.forEach(({ path, width, kind = 'wire' }, index) => {
      const code = codeOf(index);
      const names = path.split('.');
      const name = names.pop() as string;
      this.codes.set(path, { code, width });
      const range = width > 1 ? ` [${width - 1}:0]` : '';
      this.parts.push(names.map((scope) => `$scope module ${scope} $end\n`).join(''));
      this.parts.push(`$var ${kind} ${width} ${code} ${name}${range} $end\n`);
      this.parts.push('$upscope $end\n'.repeat(names.length));
    });
    this.parts.push('$enddefinitions $end\n');
  }

  raw(text: string): this {
    this.parts.push(text);
    return this;
  }

  /** Strings are written as they are: bits with x and z, `r1.5`, `sname`. */
  step(time: number, values: Readonly<Record<string, bigint | number | boolean | string>>): this {
    this.parts.push(`#${time}\n`);
    for (const [path, value] of Object.entries(values)) {
      const { code, width } = this.codes.get(path) ?? { code: '', width: 0 };
      const text =
        typeof value === 'string' ? value : BigInt.asUintN(Math.max(width, 1), BigInt(value)).toString(2);
      if (this.last.get(path) === text) continue;
      this.last.set(path, text);
      if (/^[rs]/.test(text)) this.parts.push(`${text} ${code}\n`);
      else this.parts.push(width === 1 ? `${text}${code}\n` : `b${text} ${code}\n`);
    }
    return this;
  }

  get text(): string {
    return this.parts.join('');
  }

  get bytes(): Uint8Array {
    return new TextEncoder().encode(this.text);
  }
}

function codeOf(index: number): string {
  let code = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 94)) {
    code += String.fromCharCode(33 + ((rest - 1) % 94));
  }
  return code;
}
