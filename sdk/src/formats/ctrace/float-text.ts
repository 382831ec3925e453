/** Floating-point numbers as C's `printf("%g")` prints them. */

const DIGITS = 6;
/** The most significant digits a double can need to differ from the middle between two numbers of seven digits. */
const EXACT_DIGITS = 60;

export function formatG(value: number): string {
  if (!Number.isFinite(value)) return nonFinite(value);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return `${sign}0`;
  const [mantissa, exponentText] = sixDigits(Math.abs(value)).split('e');
  const exponent = Number(exponentText);
  const digits = mantissa.replace('.', '').replace(/0+$/, '');
  if (exponent < -4 || exponent >= DIGITS) return sign + scientific(digits, exponent);
  return sign + positional(digits, exponent);
}

/** Sign of a NaN included: printf shows it. @param bits the upper 32 bits of the double, or those of the float */
export function formatNaN(bits: number): string {
  return bits >>> 31 ? '-nan' : 'nan';
}

function nonFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value < 0 ? '-inf' : 'inf';
}

function scientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function positional(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return fraction ? `${whole}.${fraction}` : whole;
}

/** `d.ddddde±x`. JavaScript rounds a number exactly in the middle away from zero, C to the even digit. */
function sixDigits(value: number): string {
  const rounded = value.toExponential(DIGITS - 1);
  const seven = value.toExponential(DIGITS);
  const [mantissa, exponent] = seven.split('e');
  if (!mantissa.endsWith('5') || Number(seven) !== value) return rounded;
  const isMiddle = /^\d\.\d{6}0*$/.test(value.toExponential(EXACT_DIGITS).split('e')[0]);
  const isEven = Number(mantissa.at(-2)) % 2 === 0;
  return isMiddle && isEven ? `${mantissa.slice(0, -1)}e${exponent}` : rounded;
}
