/** A recording as text, one line per act: the other form in which LWTR4SC records. */
import { CborWriter } from '../formats/ftr/cbor.js';
import type { FtrOutput } from '../formats/ftr/index.js';
import { IS_TEXT, TYPE_NAMES } from '../formats/ftr/types.js';
import { shownText } from '../formats/ftr/values.js';
import type {
  DeclaredAttribute,
  RecordedAttribute,
  RecordingBackend,
  TxFiber,
  TxGenerator,
  TxHandle,
} from './frontend.js';

const FULL_BYTES = 256 * 1024;
const UNITS = ['ps', 'ns', 'us', 'ms', 's'] as const;

export class TextBackend implements RecordingBackend {
  private readonly out = new CborWriter();
  private readonly encoder = new TextEncoder();

  constructor(private readonly output: FtrOutput) {}

  get isFull(): boolean {
    return this.out.length >= FULL_BYTES;
  }

  fiber({ id, name, kind }: TxFiber): void {
    this.line(`scv_tr_stream (ID ${id}, name ${quoted(name)}, kind ${quoted(kind)})`);
  }

  generator({ id, name, fiber, beginAttributes, endAttributes }: TxGenerator): void {
    this.line(`scv_tr_generator (ID ${id}, name ${quoted(name)}, scv_tr_stream ${fiber.id},`);
    for (const [i, one] of beginAttributes.entries()) this.line(declaration('begin', i, one));
    for (const [i, one] of endAttributes.entries())
      this.line(declaration('end', beginAttributes.length + i, one));
    this.line(')');
  }

  begin(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    const { id, generator, startPs } = transaction;
    this.line(`tx_begin ${id} ${generator.id} ${timeText(startPs)}`);
    this.values(transaction, attributes, generator.beginAttributes);
  }

  attribute({ id }: TxHandle, { name, type, value }: RecordedAttribute): void {
    const shown = IS_TEXT[type] === 1 ? quoted(shownText(value as string)) : String(value);
    this.line(`tx_record_attribute ${id} ${quoted(shownText(name))} ${TYPE_NAMES[type]} = ${shown}`);
  }

  end(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    const { id, generator, endPs } = transaction;
    this.line(`tx_end ${id} ${generator.id} ${timeText(endPs ?? 0n)}`);
    this.values(transaction, attributes, generator.endAttributes);
  }

  /** The sink is first. */
  relation(name: string, source: TxHandle, sink: TxHandle): void {
    this.line(`tx_relation ${quoted(name)} ${sink.id} ${source.id}`);
  }

  async flush(): Promise<void> {
    if (this.out.length === 0) return;
    await this.output.write(this.out.written);
    this.out.clear();
  }

  async close(): Promise<void> {
    await this.flush();
  }

  /** Values of what is declared as they follow, the others by their names. */
  private values(
    transaction: TxHandle,
    attributes: readonly RecordedAttribute[],
    declared: readonly DeclaredAttribute[],
  ): void {
    const isDeclared =
      attributes.length >= declared.length && declared.every(({ name }, i) => attributes[i].name === name);
    const count = isDeclared ? declared.length : 0;
    for (const { type, value } of attributes.slice(0, count))
      this.line(`a ${IS_TEXT[type] === 1 ? quoted(shownText(value as string)) : value}`);
    for (const one of attributes.slice(count)) this.attribute(transaction, one);
  }

  private line(text: string): void {
    this.out.raw(this.encoder.encode(`${text}\n`));
  }
}

function declaration(which: string, id: number, { name, type }: DeclaredAttribute): string {
  return `${which}_attribute (ID ${id}, name ${quoted(name)}, type "${TYPE_NAMES[type]}")`;
}

/** Line breaks would begin another act. */
function quoted(text: string): string {
  return `"${text.replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`;
}

/** In the largest unit in which it is a whole number. */
export function timeText(ps: bigint): string {
  let time = ps;
  let unit = 0;
  if (ps === 0n) unit = UNITS.length - 1;
  while (time !== 0n && time % 1000n === 0n && unit < UNITS.length - 1) {
    time /= 1000n;
    unit++;
  }
  return `${time} ${UNITS[unit]}`;
}
