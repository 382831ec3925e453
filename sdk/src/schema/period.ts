/** Clock periods as people write them: `1000`, `1 ns`, `1.25 ns`, `400 MHz`. */
import { FS_PER_UNIT } from '../base/units.js';
import { MAX_PERIOD_PS } from './limits.js';

const FREQUENCY_UNITS: Readonly<Record<string, bigint>> = {
  hz: 1n,
  khz: 1_000n,
  mhz: 1_000_000n,
  ghz: 1_000_000_000n,
};
const FORM = /^([0-9]{1,15})(?:\.([0-9]{1,15}))?(?:\s*([A-Za-z]{1,4}))?$/;

const PERIOD_FORMS = 'write ps as a whole number (1000), a time (1 ns, 1.25 ns) or a frequency (400 MHz)';

/** The period in ps, or why there is none. A bare number is ps; `0` means unknown. */
export function parsePeriod(text: string): { readonly ps: number } | { readonly problem: string } {
  const match = FORM.exec(text.trim());
  if (!match) return { problem: `"${text}" is not a clock period; ${PERIOD_FORMS}` };
  const [, whole = '0', fraction = '', unit = 'ps'] = match;
  // The number is digits / scale, exactly.
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(fraction.length);
  const period = own(FS_PER_UNIT, unit);
  if (period !== undefined) return wholePs(text, digits * period, scale * 1_000n);
  const frequency = own(FREQUENCY_UNITS, unit.toLowerCase());
  if (frequency === undefined) {
    return { problem: `"${text}" has the unknown unit "${unit}"; ${PERIOD_FORMS}` };
  }
  if (digits === 0n) return { problem: `"${text}" is not a frequency; write 0 for an unknown period` };
  return wholePs(text, 1_000_000_000_000n * scale, digits * frequency);
}

function own(table: Readonly<Record<string, bigint>>, unit: string): bigint | undefined {
  return Object.hasOwn(table, unit) ? table[unit] : undefined;
}

function wholePs(
  text: string,
  numerator: bigint,
  denominator: bigint,
): { readonly ps: number } | { readonly problem: string } {
  const ps = numerator / denominator;
  if (numerator % denominator !== 0n) {
    const nearest = (numerator * 2n + denominator) / (denominator * 2n);
    return {
      problem: `"${text}" is not a whole number of ps; write the period to use, for example ${nearest > 0n ? nearest : 1n} ps`,
    };
  }
  if (ps > BigInt(MAX_PERIOD_PS)) {
    return { problem: `"${text}" is longer than the ${MAX_PERIOD_PS} ps a clock period may have` };
  }
  return { ps: Number(ps) };
}
