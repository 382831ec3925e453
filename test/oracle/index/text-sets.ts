/** The parts PCS and STRINGS, the plain way: what was written to a catalog, and which strings events name. */
import { encodeStatics, encodeStrings } from './unions.js';

/** What was last written to a slot. */
interface Written {
  pc: bigint;
  bits: number;
  /** Fields set since the pair was noted. */
  hasPc: boolean;
  hasBits: boolean;
}

/** Address and machine code as they are at the end of each frame, and whenever one of them is set again or its slot changes hands. */
export class StaticWalk {
  private readonly slots = new Map<number, Written>();
  private readonly found = new Map<string, readonly [pc: bigint, bits: number]>();
  private written = new Set<Written>();

  /** @param limit of entries */
  constructor(private readonly limit: number) {}

  /** What a slot holds; 0: not known. */
  bitsOf(slot: number): number {
    return this.slots.get(slot)?.bits ?? 0;
  }

  /** In a slot at the start of the segment. */
  begin(slot: number, pc: bigint, bits: number): void {
    this.slots.set(slot, { pc, bits, hasPc: false, hasBits: false });
  }

  private slot(slot: number): Written {
    const known = this.slots.get(slot) ?? { pc: 0n, bits: 0, hasPc: false, hasBits: false };
    this.slots.set(slot, known);
    return known;
  }

  setPc(slot: number, pc: bigint): void {
    const written = this.slot(slot);
    if (written.hasPc) this.note(written);
    written.pc = pc;
    written.hasPc = true;
    this.written.add(written);
  }

  setBits(slot: number, bits: number): void {
    const written = this.slot(slot);
    if (written.hasBits) this.note(written);
    written.bits = bits;
    written.hasBits = true;
    this.written.add(written);
  }

  /** The slot is cleared, or another instruction comes into it. */
  leave(slot: number, isCleared: boolean): void {
    const written = this.slots.get(slot);
    if (!written) return;
    if (written.hasPc || written.hasBits) this.note(written);
    if (isCleared) this.slots.set(slot, { pc: 0n, bits: 0, hasPc: false, hasBits: false });
  }

  settle(): void {
    for (const written of this.written) if (written.hasPc || written.hasBits) this.note(written);
    this.written = new Set();
  }

  private note(written: Written): void {
    const { pc, bits } = written;
    written.hasPc = written.hasBits = false;
    this.found.set(`${pc} ${bits}`, [pc, bits]);
  }

  /** null: too many. */
  part(): Uint8Array | null {
    return this.found.size > this.limit ? null : encodeStatics([...this.found.values()]);
  }
}

export class StringWalk {
  private readonly found = new Set<number>();

  /** @param limit of entries */
  constructor(private readonly limit: number) {}

  add(index: number): void {
    this.found.add(index);
  }

  /** null: too many. */
  part(): Uint8Array | null {
    return this.found.size > this.limit ? null : encodeStrings(this.found);
  }
}
