/** `events`: `NAME: {when: CONDITION, fields: {a: SIGNAL}}`; `NAME: CONDITION` for one without fields. */
import { readerOf, typesOf } from '../sampling/fields.js';
import type { EntryReader, PlanScope } from '../sampling/plan-scope.js';

export function planEvent(scope: PlanScope, entry: EntryReader): void {
  const short = entry.shorthand();
  const keys = short === null ? entry.fixedKeys(['when', 'fields']) : new Map();
  const condition = scope.condition(short ?? entry.needed(keys, 'when', 'when: CONDITION'));
  const pieces = short === null ? entry.fields(scope, keys) : [];
  scope.members.push((builder) => builder.event(entry.name, typesOf(pieces)));
  scope.recorders.push((run) => {
    const [holds, event] = [condition(run), run.event(`${scope.name}/${entry.name}`)];
    const readers = pieces.map((piece) => readerOf(run, piece));
    const tally = run.kept(`event ${entry.name}`, 'an event');
    return {
      edge(isReset) {
        if (isReset || !holds()) return;
        run.open().event(
          event,
          readers.map((read) => read()),
        );
        tally.count++;
      },
    };
  });
}
