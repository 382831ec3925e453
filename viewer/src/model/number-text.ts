/** Figures as the statistics print them. */
import { grouped } from './ticks.js';

/** Three digits that matter; `–` for what is not known. */
export function rateText(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 1000
    ? grouped(Math.round(value))
    : value
        .toPrecision(3)
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '');
}

export function shareText(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return `${(value * 100).toFixed(value !== 0 && Math.abs(value) < 0.0995 ? 2 : 1)} %`;
}

export const countText = (value: number | bigint | null | undefined): string =>
  value === null || value === undefined ? '–' : grouped(Number(value));
