/** `storages`: fields that hold the values of signals. `NAME: SIGNAL`, or `NAME: {fields: {a: SIGNAL, b: SIGNAL}}`. */
import { UscopeError } from '../../../base/errors.js';
import { FollowedCells, piecesOf, typesOf } from '../sampling/fields.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';

export function planStorage(scope: PlanScope, entry: EntryReader): void {
  const short = entry.shorthand();
  const pieces =
    short !== null
      ? piecesOf('value', scope.follow(short))
      : entry.fields(scope, entry.fixedKeys(['fields']));
  if (pieces.length === 0)
    throw new UscopeError(
      'CONVERT_OPTION',
      `storage "${entry.name}" has no fields: write fields: {NAME: SIGNAL}`,
    );
  scope.members.push((builder) =>
    builder.storage(entry.name, { slots: 1, kind: 'dense', fields: typesOf(pieces) }),
  );
  scope.recorders.push((run) => {
    const cells = new FollowedCells(run, run.storage(`${scope.name}/${entry.name}`), entry.name);
    pieces.forEach((piece, field) => {
      cells.add(0, field, piece);
    });
    return cells;
  });
}
