/** The operations of OP and OP-IMM on 32-bit words. Results may lie outside 32 bits: the register takes the low ones. */

export function arithmetic(funct3: number, alternate: boolean, a: number, b: number): number {
  switch (funct3) {
    case 0:
      return alternate ? a - b : a + b;
    case 1:
      return a << (b & 31);
    case 2:
      return (a | 0) < (b | 0) ? 1 : 0;
    case 3:
      return a < b >>> 0 ? 1 : 0;
    case 4:
      return a ^ b;
    case 5:
      return alternate ? (a | 0) >> (b & 31) : a >>> (b & 31);
    case 6:
      return a | b;
    default:
      return a & b;
  }
}

/** mul, mulh, mulhsu, mulhu */
export function multiply(funct3: number, a: number, b: number): number {
  if (funct3 === 0) return Math.imul(a, b);
  const left = BigInt(funct3 === 3 ? a >>> 0 : a | 0);
  const right = BigInt(funct3 === 1 ? b | 0 : b >>> 0);
  return Number(BigInt.asUintN(32, (left * right) >> 32n));
}

/** div, divu, rem, remu */
export function divide(funct3: number, a: number, b: number): number {
  const isSigned = (funct3 & 1) === 0;
  const dividend = isSigned ? a | 0 : a >>> 0;
  const divisor = isSigned ? b | 0 : b >>> 0;
  if (funct3 < 6) return divisor === 0 ? 0xffff_ffff : Math.trunc(dividend / divisor);
  return divisor === 0 ? dividend : dividend % divisor;
}
