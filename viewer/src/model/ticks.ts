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

/** A time with the unit that suits the distance of marks. */
export function timeText(ps: number, stepPs: number): string {
  let unit = 0;
  let scale = 1;
  while (unit < UNITS.length - 1 && Math.max(stepPs, 1) >= scale * 1000) {
    scale *= 1000;
    unit++;
  }
  // The unit of the step may make long numbers of late times: one larger unit with decimals.
  while (unit < UNITS.length - 1 && ps / scale >= 100_000) {
    scale *= 1000;
    unit++;
  }
  const decimals = Math.max(0, Math.min(6, Math.ceil(Math.log10(scale / Math.max(stepPs, 1)))));
  return `${(ps / scale).toFixed(decimals)} ${UNITS[unit]}`;
}
