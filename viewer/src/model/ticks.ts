/** Marks of an axis. */

/** Distance of labelled marks: 1, 2 or 5 times a power of ten, at least 1, so that labels do not touch. */
export function tickStep(pixelsPerUnit: number, minPixels: number): number {
  const smallest = Math.max(1, minPixels / pixelsPerUnit);
  const power = 10 ** Math.floor(Math.log10(smallest));
  for (const factor of [1, 2, 5]) if (factor * power >= smallest) return factor * power;
  return 10 * power;
}

export function ticks(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

/** `1234567` as `1,234,567`. */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

const UNITS = ['ps', 'ns', 'µs', 'ms', 's'];

/**
 * A time with a unit.
 * @param stepPs distance of the marks: it decides how many decimals are shown
 * @param largestPs the latest time shown beside it, which chooses the unit for all of them
 */
export function timeText(ps: number, stepPs: number, largestPs = ps): string {
  let unit = 0;
  let scale = 1;
  const fits = (): boolean => largestPs / scale < 100_000 && stepPs / scale < 1000;
  while (unit < UNITS.length - 1 && !fits()) {
    scale *= 1000;
    unit++;
  }
  const decimals = Math.min(6, decimalsOf(stepPs, scale));
  const [whole, fraction] = (ps / scale).toFixed(decimals).split('.');
  return `${grouped(Number(whole))}${fraction ? `.${fraction}` : ''} ${UNITS[unit]}`;
}

/** Of a whole number of picoseconds those that it needs, so that marks 2.5 ns apart are not at 3 and 5 ns. */
function decimalsOf(stepPs: number, scale: number): number {
  const magnitude = Math.max(0, Math.ceil(Math.log10(scale / Math.max(stepPs, 1))));
  if (!Number.isInteger(stepPs)) return magnitude;
  let decimals = magnitude;
  while (10 ** decimals < scale && stepPs % (scale / 10 ** decimals) !== 0) decimals++;
  return decimals;
}
