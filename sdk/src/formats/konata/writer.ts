/** Writes Kanata logs. */
import { ByteText } from '../text/byte-text.js';
import type { ByteSink } from '../text/output.js';
import { TextOutput } from '../text/output.js';
import type { Packing } from '../text/unpack.js';
import { KanataLines } from './lines.js';
import { KANATA_VERSION, type KanataRecord } from './types.js';

export class KanataWriter {
  /** For lines without a record. */
  readonly lines: KanataLines;
  private readonly out: TextOutput;

  /** @throws UscopeError ENV_MISSING for zstd without the optional package */
  constructor(sink: ByteSink, packing: Packing = 'plain') {
    this.out = new TextOutput(sink, packing);
    this.out.text.ascii(`Kanata\t${KANATA_VERSION}\n`);
    this.lines = new KanataLines(this.out.text);
  }

  /** Cheap; await `drain()` now and then. @throws UscopeError FORMAT_VALUE for a stage without name, or cycles that run backwards */
  write(record: KanataRecord): void {
    this.lines.record(record);
  }

  drain(): Promise<void> {
    return this.out.drain();
  }

  /** Everything is in the sink. */
  end(): Promise<void> {
    return this.out.end();
  }
}

/** With its line feed. Tabs in texts become blanks, line feeds the two characters `\n`, as viewers want them. */
export function lineOf(record: KanataRecord): string {
  const text = new ByteText(SHORT_LINE);
  new KanataLines(text).record(record);
  return text.text();
}

const SHORT_LINE = 256;
