import { type ClockDef, INHERIT_CLOCK, NO_ID, type Schema } from '../format/types.js';

/**
 * The clock of a scope: its own, or that of the nearest scope above that names one (docs/reference/format.md#scopes). Where none does, the first clock of the
 * schema. `scopeId` 0xFFFF, root level, is scope 0.
 * @returns undefined only if the schema has no clocks
 */
export function clockOfScope(schema: Schema, scopeId: number): ClockDef | undefined {
  let id = scopeId === NO_ID ? 0 : scopeId;
  for (let steps = 0; steps <= schema.scopes.length; steps++) {
    const scope = schema.scopes[id];
    if (!scope) break;
    if (scope.clockId !== INHERIT_CLOCK) return schema.clocks[scope.clockId] ?? schema.clocks[0];
    id = scope.parentId;
  }
  return schema.clocks[0];
}
