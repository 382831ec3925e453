/** Values of SystemC's types as a trace holds them, compared with what SystemC itself says (test/cpp/systemc/types.hpp prints it). */
import type { StorageView, Trace, TraceState } from '../../sdk/src/reader/index.js';

export interface Step {
  readonly time: bigint;
  /** Kind and value: i an integer, v bits, r a double's bits, l a label. */
  readonly values: readonly (readonly [name: string, kind: string, value: string])[];
}

/** What the program printed: the time of a step, and a line for each object. */
export function stepsOf(stdout: string): Step[] {
  const sections = stdout.split(/^@ /m).slice(1);
  return sections.map((section) => {
    const [time, ...lines] = section.split('\n');
    const values = lines
      .map((line) => line.split(' '))
      .filter((words) => words.length === 3 && /^[ivrl]$/.test(words[1]!))
      .map(([name, kind, value]) => [name!, kind!, value!] as const);
    return { time: BigInt(time!), values };
  });
}

/** The objects of a step whose values in the trace are others than SystemC's. */
export async function differences(trace: Trace, storage: string, step: Step): Promise<string[]> {
  const values = new RecordedValues(trace, await trace.stateAt(step.time), storage);
  return step.values.flatMap(([name, kind, wanted]) => {
    const found = values.shown(name, kind, wanted);
    return found === wanted ? [] : [`${step.time} ${name}: ${found}, not ${wanted}`];
  });
}

class RecordedValues {
  private readonly view: StorageView;
  private readonly names: Set<string>;
  constructor(
    private readonly trace: Trace,
    state: TraceState,
    storage: string,
  ) {
    this.view = state.storage(storage);
    this.names = new Set(this.view.def.fields.map((field) => field.name));
  }

  shown(name: string, kind: string, wanted: string): string {
    if (kind === 'r') return String(this.word(`${name}.f64`));
    if (kind === 'l') return this.label(name);
    if (kind === 'v') return bitsOf(this.value(name), this.unknown(name), wanted.length);
    return String(this.integer(name));
  }

  /** Of a signed type with its sign. */
  private word(field: string): bigint {
    return this.view.field(0, field);
  }
  private label(name: string): string {
    const { enumId } = this.view.def.fields.find((one) => one.name === name)!;
    const value = Number(this.word(name));
    return this.trace.schema.enums[enumId]!.values.find((one) => one.value === value)!.name;
  }
  /** Wide fields are unsigned: a reader that wants signed values takes the highest bit as the sign, as here for sc_bigint. */
  private integer(name: string): bigint {
    const bits = /\.bits(\d+)\./.exec(this.pieces(name)[0]!)?.[1];
    const isSigned = bits !== undefined && name.startsWith('bigint');
    return isSigned ? BigInt.asIntN(Number(bits), this.value(name)) : this.value(name);
  }
  private value(name: string): bigint {
    return this.joined(this.pieces(name));
  }
  private unknown(name: string): bigint {
    if (this.names.has(`${name}.xz`)) return this.word(`${name}.xz`);
    return this.joined(
      [...this.names].filter((one) => one.startsWith(`${name}.bits`) && /\.x\d+$/.test(one)),
    );
  }
  /** A field, or those of a wide one, the lowest bits first. */
  private pieces(name: string): string[] {
    if (this.names.has(name)) return [name];
    return [...this.names].filter((one) => one.startsWith(`${name}.bits`) && /\.\d+$/.test(one));
  }
  private joined(pieces: readonly string[]): bigint {
    return pieces.reduceRight((value, piece) => (value << 64n) | this.word(piece), 0n);
  }
}

function bitsOf(value: bigint, unknown: bigint, count: number): string {
  let text = '';
  for (let bit = BigInt(count) - 1n; bit >= 0n; bit--) {
    const isOne = (value >> bit) & 1n;
    text += (unknown >> bit) & 1n ? (isOne ? 'X' : 'Z') : isOne;
  }
  // Bits that the value has above its width would be lost here.
  return value >> BigInt(count) || unknown >> BigInt(count) ? `more than ${count} bits` : text;
}
