/** The figures by which cores are compared. */
import type { CoreReport, RatioReport } from '../../protocols/cpu/analysis/index.js';
import { decimal, NONE, percent, plain, ratio, whole } from './format.js';

/** One figure of every core, in the order of the cores. */
export interface SummaryRow {
  readonly name: string;
  readonly values: readonly string[];
}

export function sideBySide(
  cores: readonly CoreReport[],
  count: (value: number | null) => string = whole,
): SummaryRow[] {
  const row = (name: string, value: (core: CoreReport) => string): SummaryRow => ({
    name,
    values: cores.map(value),
  });
  return [
    row('cycles', ({ cycles }) => count(cycles)),
    row('retired', ({ instructions }) => count(instructions.retired)),
    row('IPC', ({ instructions }) => ratio(instructions.ipc)),
    row('CPI', ({ instructions }) => ratio(instructions.cpi)),
    row('flushes per 1000', ({ flushes }) => decimal(flushes.perKiloInstructions)),
    row('squashed', ({ instructions }) => percent(instructions.squashedShare)),
    row('stalled', ({ stalls }) => percent(stalls.share)),
    row('most stalls', ({ stalls }) => (stalls.reasons[0] ? plain(stalls.reasons[0].reason) : NONE)),
    row('fetch to retirement', ({ lifetime }) => decimal(lifetime.mean)),
    row('fetch to retirement, p99', ({ lifetime }) => decimal(lifetime.p99)),
    ...ratioRows(cores),
  ];
}

/** Branch and cache figures that at least one core has. */
function ratioRows(cores: readonly CoreReport[]): SummaryRow[] {
  const names = [...new Set(cores.flatMap(({ ratios }) => ratios.map(({ name }) => name)))];
  return names.map((name) => ({
    name: plain(name),
    values: cores.map(({ ratios }) => rateOf(ratios.find((one) => one.name === name))),
  }));
}

/** Where there is nothing to relate it to, per 1000 instructions. */
function rateOf(figure: RatioReport | undefined): string {
  if (!figure || figure.denominator !== null) return percent(figure?.ratio ?? null);
  return `${decimal(figure.perKiloInstructions)} per 1000`;
}
