/** Entries as objects. */
import type { FluxCursor } from './cursor.js';
import { LAYOUT } from './layout.js';
import { CONFLICT, type FluxEntry, type FluxSample, FluxTag } from './types.js';
import { membersOf } from './values.js';

/** The entry that the cursor is at; nothing in it points into the cursor's bytes. */
export function decodeEntry(cursor: FluxCursor): FluxEntry {
  const { tag } = cursor;
  if (tag === FluxTag.SAMPLE) return decodeSample(cursor);
  const entry: Record<string, unknown> = { tag };
  if (tag === FluxTag.RING) return entry as FluxEntry;
  for (const [i, { name, kind }] of LAYOUT[tag]!.entries()) {
    if (kind === 'text') entry[name] = cursor.text(i);
    else if (kind === 'sint') entry[name] = cursor.sint(i);
    else if (kind === 'pint') entry[name] = (BigInt(cursor.highs[i]) << 32n) | BigInt(cursor.numbers[i]);
    else if (kind === 'members') entry[name] = membersOf(cursor.field(i).slice());
    else if (kind !== 'magic') entry[name] = cursor.numbers[i];
  }
  return entry as FluxEntry;
}

function decodeSample(cursor: FluxCursor): FluxSample {
  const { id, flags, df, xdf, value, group } = cursor;
  const position = group?.position ?? 0n;
  return {
    tag: FluxTag.SAMPLE,
    id,
    conflict: (flags & CONFLICT) !== 0,
    position,
    df,
    xdf,
    data: value.slice(),
  };
}
