/**
 * Flat layout of all storages of a schema: every field of every slot is one cell of two u32 words in a single array, so that the hot
 * paths of writer and reader index typed arrays and branch on nothing but the action.
 */
import { UscopeError } from '../base/errors.js';
import { type FieldDef, fieldSize, type Schema, SF_BUFFER, SF_SPARSE } from '../format/types.js';

/** Bytes of state a schema may ask for unless the caller says otherwise: a limit against schema bombs. */
export const DEFAULT_MAX_STATE_BYTES = 512 * 1024 * 1024;

export interface StateLayout {
  readonly schema: Schema;
  readonly numStorages: number;
  /** Per storage. */
  readonly numSlots: Uint32Array;
  readonly numFields: Uint32Array;
  readonly numProperties: Uint32Array;
  /** 1 where SF_SPARSE is set. */
  readonly sparse: Uint8Array;
  /** 1 where SF_BUFFER is set. */
  readonly buffer: Uint8Array;
  /** Packed bytes of one slot and of all properties (docs/reference/format.md#packing). */
  readonly slotBytes: Uint32Array;
  readonly propertyBytes: Uint32Array;
  /** First cell of slot 0; slot s, field f is cell `cellBase + s * numFields + f`. */
  readonly cellBase: Uint32Array;
  readonly propertyCellBase: Uint32Array;
  /** First byte of the storage's occupancy mask. */
  readonly maskBase: Uint32Array;
  /** First entry of the storage's fields in the field tables; its properties follow the fields. */
  readonly fieldBase: Uint32Array;
  /** Per field or property: masks that truncate a u64 to the field's width, and its packed size in bytes. */
  readonly maskLo: Uint32Array;
  readonly maskHi: Uint32Array;
  readonly sizes: Uint8Array;
  readonly totalCells: number;
  readonly totalMaskBytes: number;
}

/**
 * @throws UscopeError SCHEMA_LIMIT when the state would take more than `maxStateBytes`.
 */
export function stateLayout(schema: Schema, maxStateBytes = DEFAULT_MAX_STATE_BYTES): StateLayout {
  const n = schema.storages.length;
  const fieldTotal = schema.storages.reduce((sum, s) => sum + s.fields.length + s.properties.length, 0);
  const perStorage = (): Uint32Array => new Uint32Array(n);
  const layout = {
    schema,
    numStorages: n,
    numSlots: perStorage(),
    numFields: perStorage(),
    numProperties: perStorage(),
    sparse: new Uint8Array(n),
    buffer: new Uint8Array(n),
    slotBytes: perStorage(),
    propertyBytes: perStorage(),
    cellBase: perStorage(),
    propertyCellBase: perStorage(),
    maskBase: perStorage(),
    fieldBase: perStorage(),
    maskLo: new Uint32Array(fieldTotal),
    maskHi: new Uint32Array(fieldTotal),
    sizes: new Uint8Array(fieldTotal),
    totalCells: 0,
    totalMaskBytes: 0,
  };
  let cells = 0;
  let maskBytes = 0;
  let fieldIndex = 0;
  const addFields = (fields: readonly FieldDef[]): number => {
    let bytes = 0;
    for (const field of fields) {
      const size = fieldSize(field.type);
      layout.sizes[fieldIndex] = size;
      layout.maskLo[fieldIndex] = size >= 4 ? 0xffffffff : 2 ** (8 * size) - 1;
      layout.maskHi[fieldIndex] = size === 8 ? 0xffffffff : 0;
      bytes += size;
      fieldIndex++;
    }
    return bytes;
  };
  schema.storages.forEach((storage, id) => {
    layout.numSlots[id] = storage.numSlots;
    layout.numFields[id] = storage.fields.length;
    layout.numProperties[id] = storage.properties.length;
    layout.sparse[id] = storage.flags & SF_SPARSE ? 1 : 0;
    layout.buffer[id] = storage.flags & SF_BUFFER ? 1 : 0;
    layout.fieldBase[id] = fieldIndex;
    layout.slotBytes[id] = addFields(storage.fields);
    layout.propertyBytes[id] = addFields(storage.properties);
    const storageCells = storage.numSlots * storage.fields.length;
    if ((cells + storageCells + storage.properties.length) * 8 + maskBytes > maxStateBytes) {
      throw new UscopeError(
        'SCHEMA_LIMIT',
        `the storages up to "${storage.name}" need more than ${maxStateBytes} bytes of state; reduce slots or fields`,
      );
    }
    layout.cellBase[id] = cells;
    cells += storageCells;
    layout.propertyCellBase[id] = cells;
    cells += storage.properties.length;
    layout.maskBase[id] = maskBytes;
    maskBytes += (storage.numSlots + 7) >>> 3;
  });
  layout.totalCells = cells;
  layout.totalMaskBytes = maskBytes;
  return layout;
}
