/** Writes Kanata logs. */
import { UscopeError } from '../../base/errors.js';
import type { ByteSink } from '../text/output.js';
import { TextOutput } from '../text/output.js';
import type { Packing } from '../text/unpack.js';
import { KANATA_VERSION, type KanataRecord } from './types.js';

export class KanataWriter {
  private readonly out: TextOutput;

  /** @throws UscopeError ENV_MISSING for zstd without the optional package */
  constructor(sink: ByteSink, packing: Packing = 'plain') {
    this.out = new TextOutput(sink, packing);
    this.out.add(`Kanata\t${KANATA_VERSION}\n`);
  }

  /** Cheap; await `drain()` now and then. @throws UscopeError FORMAT_VALUE for a stage without name, or cycles that run backwards */
  write(record: KanataRecord): void {
    this.out.add(lineOf(record));
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
  switch (record.kind) {
    case 'cycle':
      return `C=\t${record.cycle}\n`;
    case 'advance':
      if (record.cycles < 0n) throw new UscopeError('FORMAT_VALUE', `${record.cycles} cycles cannot pass`);
      return `C\t${record.cycles}\n`;
    case 'begin':
      return `I\t${record.id}\t${record.gid}\t${record.tid}\n`;
    case 'label':
      return `L\t${record.id}\t${record.type}\t${columnOf(record.text)}\n`;
    case 'start':
      return `S\t${record.id}\t${record.lane}\t${stageOf(record.stage)}\n`;
    case 'end':
      return `E\t${record.id}\t${record.lane}\t${stageOf(record.stage)}\n`;
    case 'retire':
      return `R\t${record.id}\t${record.rid}\t${record.type}\n`;
    case 'dependency':
      return `W\t${record.consumer}\t${record.producer}\t${record.type}\n`;
  }
}

function columnOf(text: string): string {
  return /[\t\r\n]/.test(text) ? text.replace(/\r?\n/g, '\\n').replace(/[\t\r]/g, ' ') : text;
}

function stageOf(stage: string): string {
  const column = columnOf(stage).trim();
  if (column === '') throw new UscopeError('FORMAT_VALUE', 'a stage needs a name');
  return column;
}
