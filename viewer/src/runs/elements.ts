/** Elements of the list, and how it writes numbers. */

/** Text of a trace is never markup. */
export function element(name: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

export const grouped = (value: number): string => value.toLocaleString('en');

export const bytesText = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** Of simulated picoseconds, in the largest unit that leaves something before the point. */
export function timeText(ps: number): string {
  const units = ['ps', 'ns', 'µs', 'ms', 's'] as const;
  let [value, at] = [ps, 0];
  for (; Math.abs(value) >= 1000 && at < units.length - 1; at++) value /= 1000;
  return `${value.toLocaleString('en', { maximumFractionDigits: 2 })} ${units[at]}`;
}
