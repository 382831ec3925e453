/** The instructions of a log as objects, for listings and tests. */
import type { TextBytes } from '../text/text-bytes.js';
import { type Interrupt, join64, type RetiredSink, UNKNOWN } from './sink.js';

export interface RetiredRecord {
  readonly hart: number;
  readonly pc: bigint;
  /** Null: the log does not say. */
  readonly bits: number | null;
  readonly text: string | null;
  readonly privilege: number | null;
  readonly registers: { readonly file: 'x' | 'f'; readonly index: number; readonly value: bigint }[];
  readonly csrs: { readonly number: number; readonly name: string; readonly value: bigint }[];
  readonly stores: { readonly address: bigint; readonly bytes: number; readonly value: bigint }[];
  readonly loads: bigint[];
  readonly notes: string[];
  readonly trap: { readonly cause: bigint; readonly value: bigint } | null;
  interrupt: Interrupt | null;
}

export class RetiredRecords implements RetiredSink {
  all: RetiredRecord[] = [];
  private last!: RetiredRecord;

  begin(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    privilege = UNKNOWN,
    trap: RetiredRecord['trap'] = null,
  ): void {
    this.last = {
      ...{ hart, pc: join64(pcLow, pcHigh), bits: bits === UNKNOWN ? null : bits, text },
      ...{ privilege: privilege === UNKNOWN ? null : privilege, trap, interrupt: null },
      ...{ registers: [], csrs: [], stores: [], loads: [], notes: [] },
    };
    this.all.push(this.last);
  }

  trap(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    cause: bigint,
    value: bigint,
  ): void {
    this.begin(hart, pcLow, pcHigh, bits, text, UNKNOWN, { cause, value });
  }

  interrupt(interrupt: Interrupt): void {
    this.last.interrupt = interrupt;
  }

  register(isFloat: boolean, index: number, low: number, high: number): void {
    this.last.registers.push({ file: isFloat ? 'f' : 'x', index, value: join64(low, high) });
  }

  csr(number: number, name: TextBytes, low: number, high: number): void {
    this.last.csrs.push({ number, name: String(name), value: join64(low, high) });
  }

  store(addressLow: number, addressHigh: number, bytes: number, low: number, high: number): void {
    this.last.stores.push({ address: join64(addressLow, addressHigh), bytes, value: join64(low, high) });
  }

  load(addressLow: number, addressHigh: number): void {
    this.last.loads.push(join64(addressLow, addressHigh));
  }

  note(text: string): void {
    this.last.notes.push(text);
  }
}
