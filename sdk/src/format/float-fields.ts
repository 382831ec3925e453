/** Fields that hold the bits of a floating-point number, which their names say (docs/reference/format.md#floating-point-fields). */
import { type FieldDef, FieldType } from './types.js';

const FLOAT_NAME = /[._]f(32|64)$/;
const view = new DataView(new ArrayBuffer(8));

/** Bits of the number: 32 or 64; 0 for a field of any other kind. */
export function floatBits({ name, type }: Pick<FieldDef, 'name' | 'type'>): 0 | 32 | 64 {
  const bits = FLOAT_NAME.exec(name)?.[1];
  if (bits === '64' && type === FieldType.U64) return 64;
  return bits === '32' && type === FieldType.U32 ? 32 : 0;
}

/** The number whose bits, 32 or 64, the halves of a value are. */
export function floatOf(bits: 32 | 64, lo: number, hi: number): number {
  view.setUint32(0, lo, true);
  view.setUint32(4, hi, true);
  return bits === 64 ? view.getFloat64(0, true) : view.getFloat32(0, true);
}
