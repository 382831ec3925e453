/** Wide fields (docs/reference/format.md#wide-fields) as the command line shows them: one value under one name. */
import type { FieldDef } from '../../format/types.js';
import { joinPieces, type LogicalField, logicalFields, wideText } from '../../format/wide-fields.js';

/** Null where none is wide, so that the usual way stays as quick as it is. */
export function fieldsWithWide(fields: readonly FieldDef[]): readonly LogicalField[] | null {
  const logical = logicalFields(fields);
  return logical.length === fields.length ? null : logical;
}

/** @param piece the value of a field of the schema */
export function wideValueText(
  { bits, pieces, unknown }: LogicalField,
  piece: (index: number) => bigint,
): string {
  return wideText(bits, joinPieces(pieces.map(piece)), joinPieces(unknown.map(piece)));
}
