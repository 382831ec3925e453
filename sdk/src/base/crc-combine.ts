/** CRC-32 of two pieces from the CRCs of each, so that one that is known already need not be read again. */

const POLYNOMIAL = 0xedb88320;
/** Polynomials over the field of two elements, as the CRC has them: the highest bit is the coefficient of x^0. */
const ONE = 0x80000000;
const X_TO_8 = ONE >>> 8;

/** The CRC of `a` followed by `b`, whose length in bytes is given. */
export function combineCrc(crcOfA: number, crcOfB: number, bytesOfB: number): number {
  let shift = ONE;
  let power = X_TO_8;
  for (let rest = bytesOfB; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(shift, power);
    power = multiply(power, power);
  }
  return (multiply(shift, crcOfA) ^ crcOfB) >>> 0;
}

/** Product modulo the polynomial of the CRC. */
function multiply(a: number, b: number): number {
  let product = 0;
  let term = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= term;
    term = (term & 1) !== 0 ? (term >>> 1) ^ POLYNOMIAL : term >>> 1;
  }
  return product >>> 0;
}
