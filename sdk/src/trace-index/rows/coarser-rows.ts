/** A part ROWS with a quarter of the groups, for an index that has no room for the finest. */
import { ByteReader } from '../../base/bytes.js';
import { FAN_OUT } from '../levels/level-chunk.js';
import { encodeRowsPart, LATE_COLUMNS, MAX_GROUP_LEVEL, OWN_COLUMNS, readRowsPart } from './rows-part.js';

/** Columns of a group, as they are stored. */
const Own = { FIRST_BIRTH: 0, SPAN: 1, END: 2 } as const;

/** null: its groups are the coarsest there are. @param stages as `stageColumns` @throws UscopeError FORMAT_* where it is malformed */
export function coarserRowsPart(bytes: Uint8Array, stages: number): Uint8Array | null {
  const part = readRowsPart(new ByteReader(bytes), stages);
  if (part.level >= MAX_GROUP_LEVEL) return null;
  const own = emptyColumns(OWN_COLUMNS + 2 * stages);
  for (let from = 0; from < part.own[0]!.length; from += FAN_OUT) {
    const group = joined(part.own, from);
    own.forEach((column, index) => {
      column.push(group[index]!);
    });
  }
  const late = emptyColumns(LATE_COLUMNS + 2 * stages).map((_, index) => [...part.late[index]!]);
  return encodeRowsPart({ ...part, level: part.level + 1, own, late });
}

const emptyColumns = (count: number): number[][] => Array.from({ length: count }, () => []);

/** Up to four groups as one. */
function joined(own: readonly Float64Array[], from: number): number[] {
  const group = own.map((column) => column[from]!);
  const first = group[Own.FIRST_BIRTH]!;
  const to = Math.min(from + FAN_OUT, own[0]!.length);
  for (let at = from + 1; at < to; at++) {
    const later = own[Own.FIRST_BIRTH]![at]! - first;
    group[Own.SPAN] = Math.max(group[Own.SPAN]!, later + own[Own.SPAN]![at]!);
    const end = own[Own.END]![at]!;
    if (end > 0) group[Own.END] = Math.max(group[Own.END]!, later + end);
    for (let column = OWN_COLUMNS - 4; column < group.length; column++) {
      const value = own[column]![at]!;
      const isLongest = column >= OWN_COLUMNS && (column - OWN_COLUMNS) % 2 === 1;
      group[column] = isLongest ? Math.max(group[column]!, value) : group[column]! + value;
    }
  }
  return group;
}
