/** Clocks by name, and their cycles. */
import { UscopeError } from '../base/errors.js';
import { namesNear } from '../base/near-names.js';
import { type ClockDef, INHERIT_CLOCK, NO_ID, type Schema } from '../format/types.js';

/** The clock of a scope, inherited where the scope names none; the first clock where no ancestor does. */
export function clockOfScope(schema: Schema, scopeId: number): ClockDef | undefined {
  let id = scopeId;
  while (id !== NO_ID && schema.scopes[id]) {
    const { clockId, parentId } = schema.scopes[id];
    if (clockId !== INHERIT_CLOCK) return schema.clocks[clockId];
    id = parentId;
  }
  return schema.clocks[0];
}

/** The clock of that name or id; without one that of the first scope with a protocol. @throws UscopeError READER_NAME, READER_NO_CYCLES */
export function findClock(schema: Schema, nameOrId: string | number | undefined): ClockDef {
  if (nameOrId === undefined) {
    const scope = schema.scopes.find(({ protocol }) => protocol !== null);
    const clock = clockOfScope(schema, scope?.scopeId ?? 0);
    if (clock) return clock;
    throw new UscopeError('READER_NO_CYCLES', 'the trace defines no clock; ask in picoseconds');
  }
  const found =
    typeof nameOrId === 'number'
      ? schema.clocks[nameOrId]
      : schema.clocks.find(({ name }) => name === nameOrId);
  if (found) return found;
  const known = schema.clocks.map(({ name }) => name);
  const near = namesNear(String(nameOrId), known);
  throw new UscopeError('READER_NAME', `the trace has no clock "${nameOrId}"; ${near}`);
}

/** Period in ps. @throws UscopeError READER_NO_CYCLES when it is not known (0) */
export function periodOf({ name, periodPs }: ClockDef): bigint {
  if (periodPs > 0) return BigInt(periodPs);
  throw new UscopeError(
    'READER_NO_CYCLES',
    `the period of clock "${name}" is not known, so it has no cycles; ask in picoseconds`,
  );
}
