/** What tests of foreign formats need: outputs in memory, a context, and damage done to files. */
import {
  type ByteOutput,
  type ConversionContext,
  MemoryOutput,
  type OutputFiles,
} from '../../sdk/src/formats/common/foreign-format.js';
import { ConversionReport } from '../../sdk/src/formats/common/report.js';

export { MemoryOutput };

export class MemoryFiles implements OutputFiles {
  readonly files = new Map<string | null, MemoryOutput>();

  async open(part: string | null): Promise<ByteOutput> {
    const file = new MemoryOutput();
    this.files.set(part, file);
    return file;
  }

  bytes(part: string | null = null): Uint8Array {
    return this.files.get(part)?.bytes ?? new Uint8Array(0);
  }
}

export interface TestContext extends ConversionContext {
  readonly warnings: string[];
}

export function contextOf(options: Record<string, string> = {}): TestContext {
  const warnings: string[] = [];
  return {
    options: new Map(Object.entries(options)),
    report: new ConversionReport(),
    onWarning: (message) => warnings.push(message),
    warnings,
  };
}

/** Every beginning of a file, the empty one first. */
export function* cuts(bytes: Uint8Array): Generator<Uint8Array> {
  for (let length = 0; length < bytes.length; length++) yield bytes.slice(0, length);
}

/** `count` copies with a few bytes changed, the same in every run. */
export function* flips(bytes: Uint8Array, count: number, seed = 1): Generator<Uint8Array> {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let n = 0; n < count; n++) {
    const copy = bytes.slice();
    for (let k = 1 + next(3); k > 0; k--) copy[next(copy.length)] ^= 1 << next(8);
    yield copy;
  }
}
