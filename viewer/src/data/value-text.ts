/** Values of fields for people, as the command prints them: labels of enums, addresses in hexadecimal, strings. */
import { FieldType, joinPieces, type LogicalField, wideText } from 'uscope/format';
import { interpret } from 'uscope/reader';
import type { TraceSchema } from './library.js';

export type Field = TraceSchema['events'][number]['fields'][number];

const HEX_FROM = 0x1_0000n;
/** Fields of addresses and machine code are always in hexadecimal. */
const ADDRESS_NAME = /(^|_)(pc|npc|addr|vaddr|paddr|address|target|tval|insn|bits)(_|$)/;

/**
 * @param raw as stored, unsigned
 * @param stringOf text of a string of the trace; null: it has none of that number
 */
function valueText(
  { type, enumId, name }: Field,
  raw: bigint,
  { enums }: TraceSchema,
  stringOf: (index: number) => string | null,
): string {
  switch (type) {
    case FieldType.BOOL:
      return raw === 0n ? 'false' : 'true';
    case FieldType.ENUM:
      return enums[enumId]?.values.find(({ value }) => BigInt(value) === raw)?.name ?? String(raw);
    case FieldType.STRING_REF:
      return stringOf(Number(raw)) ?? `#${raw}`;
    case FieldType.U32:
    case FieldType.U64:
      return raw >= HEX_FROM || ADDRESS_NAME.test(name.toLowerCase()) ? `0x${raw.toString(16)}` : String(raw);
    default:
      return String(interpret(type, raw));
  }
}

/** The same of a field that may be wider than 64 bits (docs/reference/format.md#wide-fields). @param raw by index in `fields` */
export function logicalText(
  fields: readonly Field[],
  { bits, pieces, unknown }: LogicalField,
  raw: (index: number) => bigint,
  schema: TraceSchema,
  stringOf: (index: number) => string | null,
): string {
  const first = pieces[0]!;
  if (bits === 0) return valueText(fields[first]!, raw(first), schema, stringOf);
  return wideText(bits, joinPieces(pieces.map(raw)), joinPieces(unknown.map(raw)));
}

export const isString = ({ type }: Field): boolean => type === FieldType.STRING_REF;
