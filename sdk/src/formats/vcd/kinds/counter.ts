/** `counters`: `NAME: CONDITION` counts the clock edges at which it holds; `NAME: {total: SIGNAL}` is a counter of the design itself. */

import { UscopeError } from '../../../base/errors.js';
import { FollowedCells, piecesOf } from '../sampling/fields.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';

export function planCounter(scope: PlanScope, entry: EntryReader): void {
  scope.members.push((builder) => builder.counter(entry.name));
  const path = `${scope.name}/${entry.name}`;
  const short = entry.shorthand();
  if (short === null) {
    const total = scope.follow(entry.needed(entry.fixedKeys(['total']), 'total', 'total: SIGNAL'));
    const [piece, more] = piecesOf('count', total);
    if (more || total.kind !== 'bits')
      throw new UscopeError('CONVERT_OPTION', `${total.path} is not a number of up to 64 bits`);
    scope.recorders.push((run) => {
      const cells = new FollowedCells(run, run.storage(path), entry.name);
      cells.add(0, 0, piece);
      return cells;
    });
    return;
  }
  const condition = scope.condition(short);
  scope.recorders.push((run) => {
    const [holds, storage] = [condition(run), run.storage(path)];
    const tally = run.kept('counted edges', 'ADD');
    return {
      edge(isReset) {
        if (isReset || !holds()) return;
        run.open().slotAdd(storage, 0, 0, 1);
        tally.count++;
      },
    };
  });
}
