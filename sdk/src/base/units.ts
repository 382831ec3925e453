/** Numbers for people, and units as they write them. */

/** Units of time; femtoseconds each. */
export const FS_PER_UNIT: Readonly<Record<string, bigint>> = {
  fs: 1n,
  ps: 1_000n,
  ns: 1_000_000n,
  us: 1_000_000_000n,
  µs: 1_000_000_000n,
  ms: 1_000_000_000_000n,
  s: 1_000_000_000_000_000n,
};

/** 1,234,567. Not by `toLocaleString`, whose tables would cost the daemon memory, and time when a trace ends. */
export function formatCount(value: bigint | number): string {
  return String(BigInt(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

const RATE_UNITS = ['', 'k', 'M', 'G'] as const;
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
/** ps, ns, ...: each a thousand of the one before. */
const TIME_UNITS = ['ps', 'ns', 'µs', 'ms', 's'] as const;

/** 950, 34.5 k, 3.4 M */
export function formatRate(value: number): string {
  return scaled(value, RATE_UNITS);
}

/** 950 B, 6.9 MB */
export function formatBytes(value: bigint | number): string {
  return scaled(Number(value), BYTE_UNITS);
}

/** Simulated time: 400 ps, 1.2 ms */
export function formatTime(ps: bigint): string {
  return scaled(Number(ps), TIME_UNITS);
}

function scaled(value: number, units: readonly string[]): string {
  let unit = 0;
  let rest = value;
  // 999.95 would be shown as 1000.0.
  while (rest >= 999.95 && unit < units.length - 1) {
    rest /= 1000;
    unit++;
  }
  const digits = unit === 0 || rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
  return `${rest.toFixed(digits)} ${units[unit]}`.trimEnd();
}
