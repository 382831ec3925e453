/** Translated blocks of code: `IN:` lists one, and the `Trace` that follows says at which host address it is. Two processes have different ones at one guest address. */
import { field } from '../../semantics/cpu/riscv/operands.js';
import { expanded } from '../common/riscv.js';
import { join64, UNKNOWN, UnknownCode } from '../retired/sink.js';
import type { HexColumn } from '../text/columns.js';

type Address = Pick<HexColumn, 'low' | 'high'>;
type Key = number | bigint;

/** Addresses below it are exact as numbers, which a map finds faster. */
const EXACT_HIGH = 1 << 21;
const keyOf = ({ low, high }: Address): Key => (high < EXACT_HIGH ? high * 2 ** 32 + low : join64(low, high));

export class Block {
  readonly pcLow: number[] = [];
  readonly pcHigh: number[] = [];
  readonly bits: number[] = [];
  /** Where the disassembler does not know the code. */
  readonly texts: (string | null)[] = [];
  privilege = UNKNOWN;
  /** The register that its only instruction writes; 0: none. */
  destination = 0;
  private isReady = false;
  private startLow = 0;
  private startHigh = 0;

  get size(): number {
    return this.bits.length;
  }

  startsAt({ low, high }: Address): boolean {
    return this.startLow === low && this.startHigh === high;
  }

  indexOf(pc: bigint): number {
    return this.pcLow.findIndex((low, index) => join64(low, this.pcHigh[index]) === pc);
  }

  add(pc: bigint, bits: number, text: string): void {
    this.pcLow.push(Number(pc & 0xffff_ffffn));
    this.pcHigh.push(Number(pc >> 32n));
    this.bits.push(bits);
    this.texts.push(text);
  }

  /** It is listed as a whole, and runs. */
  ready(xlen: 32 | 64, codes: UnknownCode): this {
    if (this.isReady) return this;
    this.isReady = true;
    this.startLow = this.pcLow[0];
    this.startHigh = this.pcHigh[0];
    this.destination = this.size === 1 ? destinationOf(this.bits[0], xlen === 32) : 0;
    for (const [index, bits] of this.bits.entries()) if (!codes.has(bits, xlen)) this.texts[index] = null;
    return this;
  }
}

export class Blocks {
  /** Runs of blocks that no `IN:` lists, and runs whose code was taken by the guest address. */
  withoutCode = 0;
  byGuest = 0;
  isEmpty = true;
  private listing: Block | null = null;
  /** Listed and not yet run, by guest address. */
  private readonly fresh = new Map<Key, Block>();
  private readonly byHost = new Map<Key, Block>();
  /** The last one at each guest address. */
  private readonly last = new Map<Key, Block>();
  private readonly codes = new UnknownCode();
  private readonly unlisted = new Block();

  /** `IN:` */
  list(): void {
    this.listing = new Block();
  }

  privilege(privilege: number): void {
    if (this.listing) this.listing.privilege = privilege;
  }

  /** False: no `IN:` precedes it. */
  code(pc: string, bits: string, text: string): boolean {
    const { listing } = this;
    if (!listing) return false;
    listing.add(BigInt(`0x${pc}`), Number.parseInt(bits, 16), text.replace(/\s+/g, ' ').trim());
    if (listing.size > 1) return true;
    this.isEmpty = false;
    this.fresh.set(keyOf({ low: listing.pcLow[0], high: listing.pcHigh[0] }), listing);
    return true;
  }

  /** The block that runs; one without instructions where it is not known. */
  run(host: Address, pc: Address, xlen: 32 | 64): Block {
    const fresh = this.fresh.size > 0 ? this.fresh.get(keyOf(pc)) : undefined;
    if (fresh) {
      this.fresh.delete(keyOf(pc));
      this.byHost.set(keyOf(host), fresh);
      this.last.set(keyOf(pc), fresh);
      return fresh.ready(xlen, this.codes);
    }
    const bound = this.byHost.get(keyOf(host));
    if (bound?.startsAt(pc)) return bound;
    // Two processors may translate the same block at a time.
    const last = this.last.get(keyOf(pc));
    if (last) this.byGuest++;
    else this.withoutCode++;
    return last ?? this.unlisted;
  }
}

// The integer register that an instruction writes, by its bits; 0: none. Of a log of register values it says which of them are news.

export function destinationOf(bits: number, isRv32: boolean): number {
  const word = expanded(bits, isRv32 ? 32 : 64);
  const rd = field(word, 11, 7);
  switch (word & 0x7f) {
    // loads, immediates, registers, upper immediates, AMO, jumps
    case 0x03:
    case 0x13:
    case 0x17:
    case 0x1b:
    case 0x2f:
    case 0x33:
    case 0x37:
    case 0x3b:
    case 0x67:
    case 0x6f:
      return rd;
    // CSR instructions, not ecall and its like
    case 0x73:
      return field(word, 14, 12) === 0 ? 0 : rd;
    // comparisons, conversions to integers, moves to integers, classes
    case 0x53:
      return [0x14, 0x18, 0x1c].includes(word >>> 27) ? rd : 0;
    default:
      return 0;
  }
}
