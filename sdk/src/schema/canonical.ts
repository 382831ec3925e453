import type { FieldDef, Schema } from '../format/types.js';

/**
 * One text per meaning: equal for two schemas that define the same ids, names and types, whatever their files look like. DUT
 * properties, comments and defaults of variables take no part. Generated code carries a hash of it.
 * @returns JSON without whitespace, keys in a fixed order
 */
export function canonicalSchema(schema: Schema): string {
  const fields = (defs: readonly FieldDef[]): unknown[] =>
    defs.map((f) => [f.name, f.type, f.enumId, f.role, f.pairId]);
  return JSON.stringify({
    clocks: schema.clocks.map((def) => [def.name, def.periodPs]),
    scopes: schema.scopes.map((def) => [def.name, def.parentId, def.protocol, def.clockId]),
    enums: schema.enums.map((def) => [def.name, def.values.map((item) => [item.value, item.name])]),
    storages: schema.storages.map((def) => ({
      name: def.name,
      scope: def.scopeId,
      slots: def.numSlots,
      flags: def.flags,
      fields: fields(def.fields),
      properties: fields(def.properties),
    })),
    events: schema.events.map((def) => ({ name: def.name, scope: def.scopeId, fields: fields(def.fields) })),
    summary: schema.summaryFields.map((def) => [def.name, def.type, def.scopeId]),
  });
}
