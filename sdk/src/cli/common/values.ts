/** Field values as the command line prints them: enums by label, string references by text, booleans as such, integers in decimal. */
import { onOneLine } from '../../base/printable.js';
import { floatBits, floatOf } from '../../format/float-fields.js';
import { type FieldDef, FieldType, fieldSize, isSigned, type Schema } from '../../format/types.js';
import type { TraceStrings } from '../../reader/index.js';

const TWO_32 = 0x1_0000_0000;
/** Below this the high half of a u64 still fits a number exactly. */
const SAFE_HIGH = 0x20_0000;
const HEX_FROM = 0x1_0000;
/** Fields of addresses and machine code: always in hexadecimal, so that one column has one base. */
const ADDRESS_NAME = /(^|_)(pc|npc|addr|vaddr|paddr|address|target|tval|insn|bits)(_|$)/;

/** A u64 given in halves, in decimal. */
export function decimal(lo: number, hi: number): string {
  if (hi === 0) return String(lo);
  if (hi < SAFE_HIGH) return String(hi * TWO_32 + lo);
  return ((BigInt(hi) << 32n) | BigInt(lo)).toString();
}

/** Prints the values of one field; made once per field, so that the loop over items looks nothing up. */
export class ValueFormat {
  private readonly labels: ReadonlyMap<number, string> | null;
  private readonly labelsJson: ReadonlyMap<number, string> | null;
  /** Of the field, for people. */
  readonly name: string;
  readonly isStringRef: boolean;
  private readonly isBool: boolean;
  private readonly signedBits: number;
  private readonly floatBits: 0 | 32 | 64;
  /** The least number that is shown in hexadecimal. */
  private readonly hexFrom: number;

  constructor(
    readonly field: FieldDef,
    schema: Schema,
    private readonly strings: TraceStrings,
  ) {
    const { type, enumId } = field;
    this.name = onOneLine(field.name);
    this.isStringRef = type === FieldType.STRING_REF;
    this.isBool = type === FieldType.BOOL;
    this.signedBits = isSigned(type) ? fieldSize(type) * 8 : 0;
    this.floatBits = floatBits(field);
    const isWide = type === FieldType.U32 || type === FieldType.U64;
    const least = ADDRESS_NAME.test(field.name.toLowerCase()) ? 0 : HEX_FROM;
    this.hexFrom = isWide ? least : Number.POSITIVE_INFINITY;
    const values = type === FieldType.ENUM ? (schema.enums[enumId]?.values ?? []) : null;
    // Where a number has two labels the first one counts.
    this.labels = values && new Map([...values].reverse().map(({ value, name }) => [value, name]));
    this.labelsJson =
      this.labels && new Map([...this.labels].map(([value, name]) => [value, JSON.stringify(name)]));
  }

  /** As JSON: strings for integers (64 bits survive), labels and texts; `true`/`false` for booleans. */
  json(lo: number, hi: number): string {
    if (this.isBool) return (lo | hi) !== 0 ? 'true' : 'false';
    if (this.labelsJson) {
      const label = hi === 0 ? this.labelsJson.get(lo) : undefined;
      if (label !== undefined) return label;
    }
    if (this.isStringRef) return JSON.stringify(this.stringText(lo, hi));
    return `"${this.integer(lo, hi)}"`;
  }

  /** What `json` says, without quotes: what conditions are compared with. */
  plain(lo: number, hi: number): string {
    if (this.isBool) return (lo | hi) !== 0 ? 'true' : 'false';
    if (this.isStringRef) return this.stringText(lo, hi);
    return (hi === 0 ? this.labels?.get(lo) : undefined) ?? this.integer(lo, hi);
  }

  /** For people: as `plain`, strings quoted, addresses and large unsigned numbers in hexadecimal, floating-point numbers as such. */
  text(lo: number, hi: number): string {
    if (this.floatBits !== 0) return String(floatOf(this.floatBits, lo, hi));
    if (this.isStringRef) return quoted(this.stringText(lo, hi));
    if (hi === 0 ? lo < this.hexFrom : this.hexFrom === Number.POSITIVE_INFINITY)
      return onOneLine(this.plain(lo, hi));
    const high = hi === 0 ? '' : hi.toString(16);
    return `0x${high}${high ? lo.toString(16).padStart(8, '0') : lo.toString(16)}`;
  }

  /** The number, whatever the field means: signed for signed types. */
  integer(lo: number, hi: number): string {
    if (this.signedBits === 0) return decimal(lo, hi);
    if (this.signedBits <= 32) return String((lo << (32 - this.signedBits)) >> (32 - this.signedBits));
    return BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo)).toString();
  }

  /** Text of a string reference; `#N` where the trace has no string N. */
  private stringText(lo: number, hi: number): string {
    return (hi === 0 ? this.strings.peek(lo) : undefined) ?? `#${decimal(lo, hi)}`;
  }
}

/** A string of the trace for people. */
export const quoted = (text: string): string => onOneLine(JSON.stringify(text));

/** Halves of a value held as bigint. */
export function halves(value: bigint): [lo: number, hi: number] {
  return [Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn)];
}
