/** Schemas that tests share. */
import {
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
  SF_BUFFER,
  SF_SPARSE,
} from '../../sdk/src/format/types.js';

export function field(name: string, type: FieldType, more: Partial<FieldDef> = {}): FieldDef {
  return { name, type, enumId: 0, role: 0, pairId: 0, ...more };
}

/** One core: entities (sparse, 16 slots), a counter, a buffer with pointers; stage_transition and annotate. */
export function cpuSchema(): Schema {
  return {
    clocks: [{ name: 'core_clk', clockId: 0, periodPs: 1000 }],
    scopes: [
      { name: 'root', scopeId: 0, parentId: NO_ID, protocol: null, clockId: INHERIT_CLOCK },
      { name: 'core0', scopeId: 1, parentId: 0, protocol: 'cpu', clockId: 0 },
    ],
    enums: [
      {
        name: 'pipeline_stage',
        values: ['fetch', 'decode', 'execute'].map((name, value) => ({ value, name })),
      },
    ],
    storages: [
      {
        name: 'entities',
        storageId: 0,
        numSlots: 16,
        flags: SF_SPARSE,
        scopeId: 1,
        fields: [
          field('entity_id', FieldType.U32),
          field('pc', FieldType.U64),
          field('inst_bits', FieldType.U32),
        ],
        properties: [],
      },
      {
        name: 'committed_insns',
        storageId: 1,
        numSlots: 1,
        flags: 0,
        scopeId: 1,
        fields: [field('count', FieldType.U64)],
        properties: [],
      },
      {
        name: 'rob',
        storageId: 2,
        numSlots: 8,
        flags: SF_SPARSE | SF_BUFFER,
        scopeId: 1,
        fields: [field('entity_id', FieldType.U32)],
        properties: [
          field('retire_ptr', FieldType.U16, { role: 1 }),
          field('allocate_ptr', FieldType.U16, { role: 2 }),
        ],
      },
    ],
    events: [
      {
        name: 'stage_transition',
        eventTypeId: 0,
        scopeId: 1,
        fields: [field('entity_id', FieldType.U32), field('stage', FieldType.ENUM)],
      },
      {
        name: 'annotate',
        eventTypeId: 1,
        scopeId: 1,
        fields: [field('entity_id', FieldType.U32), field('text', FieldType.STRING_REF)],
      },
    ],
    summaryFields: [],
  };
}
