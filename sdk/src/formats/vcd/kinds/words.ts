/**
 * `words`: the words of a memory or of a register file as slots. `NAME: mem[*]`, `NAME: {fields: {a: tag[*], b: data[*]}}`, or
 * `NAME: {packed: SIGNAL, bits: 32}` for words that are next to each other in one vector.
 */
import { UscopeError } from '../../../base/errors.js';
import { MAX_SLOTS } from '../../../schema/limits.js';
import { type FieldPiece, FollowedCells, piecesOf, typesOf } from '../sampling/fields.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';
import type { FollowedPart } from '../sampling/run.js';

/** A field of every slot. */
export interface WordField {
  readonly name: string;
  readonly slots: ReadonlyMap<number, FollowedPart>;
}

export function planWords(scope: PlanScope, entry: EntryReader): void {
  const fields = wordFields(scope, entry);
  const layout = layoutOf(entry.name, fields);
  const { slots, types, cellsOf } = layout;
  scope.members.push((builder) => builder.storage(entry.name, { slots, kind: 'dense', fields: types }));
  scope.recorders.push((run) => {
    const cells = new FollowedCells(run, run.storage(`${scope.name}/${entry.name}`), entry.name);
    cellsOf((slot, field, piece) => cells.add(slot, field, piece));
    return cells;
  });
}

function wordFields(scope: PlanScope, entry: EntryReader): WordField[] {
  const short = entry.shorthand();
  if (short !== null) return [{ name: 'value', slots: scope.numbered(short) }];
  const keys = entry.fixedKeys(['fields', 'packed', 'bits']);
  const packed = entry.text(keys, 'packed');
  if (packed !== undefined) return [packedField(scope, 'value', packed, entry.integer(keys, 'bits') ?? 1)];
  return entry.pairs(keys, 'fields').map(([name, pattern]) => ({ name, slots: scope.numbered(pattern) }));
}

/** @throws UscopeError CONVERT_OPTION */
export function packedField(scope: PlanScope, name: string, signal: string, bits: number): WordField {
  const whole = scope.bits(signal);
  if (bits < 1 || whole.width % bits !== 0)
    throw new UscopeError(
      'CONVERT_OPTION',
      `${whole.path} has ${whole.width} bits, which is not a multiple of bits: ${bits}`,
    );
  const slots = Array.from(
    { length: whole.width / bits },
    (_, slot) => [slot, { ...whole, from: whole.from + slot * bits, width: bits }] as const,
  );
  return { name, slots: new Map(slots) };
}

/** @throws UscopeError CONVERT_OPTION */
export function layoutOf(name: string, fields: readonly WordField[]) {
  const slots = fields
    .flatMap((field) => [...field.slots.keys()])
    .reduce((most, slot) => Math.max(most, slot + 1), 0);
  if (slots < 1 || slots > MAX_SLOTS)
    throw new UscopeError('CONVERT_OPTION', `"${name}" has ${slots} words; 1 to ${MAX_SLOTS} can be slots`);
  const sample = fields.map(({ name: field, slots: parts }) => {
    const widest = [...parts.values()].reduce((a, b) => (b.width > a.width ? b : a));
    return piecesOf(field, widest);
  });
  const types = Object.assign({}, ...sample.map(typesOf));
  const cellsOf = (add: (slot: number, field: number, piece: FieldPiece) => void): void => {
    let first = 0;
    fields.forEach(({ name: field, slots: parts }, index) => {
      for (const [slot, part] of parts)
        for (const [k, piece] of piecesOf(field, part).entries()) add(slot, first + k, piece);
      first += sample[index].length;
    });
  };
  return { slots, types, cellsOf };
}
