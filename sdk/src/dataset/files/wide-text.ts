/** Wide fields (docs/format.md#wide-fields) in SQL: the pieces of a value as `wideText` prints it. */

/**
 * @param pieces BIGINT columns with the bits of a value, the lowest first
 * @param unknown those that say which bits are unknown; empty for two states
 */
export function wideTextOf(bits: number, pieces: readonly string[], unknown: readonly string[]): string {
  const words = pieces.map((piece, index) => {
    const digits = Math.ceil(Math.min(64, bits - 64 * index) / 4);
    return unknown.length === 0 ? knownDigits(piece, digits) : digitsOf(piece, unknown[index], digits);
  });
  return `concat('0x', ${words.reverse().join(', ')})`;
}

function knownDigits(piece: string, digits: number): string {
  return `lpad(lower(hex(${piece})), ${digits}, '0')`;
}

/** The usual value has no unknown bit, so that its digits need no list. */
function digitsOf(piece: string, unknown: string, digits: number): string {
  const nibble = (column: string): string => `((${column} >> (4 * i)) & 15)`;
  const digit = `CASE WHEN ${nibble(unknown)} = 0 THEN lower(hex(${nibble(piece)})) WHEN (${nibble(piece)} & ${nibble(unknown)}) = 0 THEN 'z' ELSE 'x' END`;
  const list = `array_to_string(list_transform(range(${digits - 1}, -1, -1), lambda i: ${digit}), '')`;
  return `CASE WHEN ${unknown} = 0 THEN ${knownDigits(piece, digits)} ELSE ${list} END`;
}
