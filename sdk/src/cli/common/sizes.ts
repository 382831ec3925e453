/** Sizes of memory and files on the command line. */
const BYTES_PER_UNIT: Readonly<Record<string, number>> = {
  '': 1,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
};

/** `64MB`, `64M`, `64MiB`: powers of 1024, as for memory. null: no size. */
export function parseSize(text: string): number | null {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(digits) * BYTES_PER_UNIT[unit?.toUpperCase() ?? '']);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
