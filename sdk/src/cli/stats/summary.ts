/** The figures by which cores are compared. */
import { onOneLine } from '../../base/printable.js';
import type { CoreReport, RatioReport, TopDownReport } from '../../semantics/cpu/analysis/report.js';
import { decimal, NONE, percent, ratio, whole } from '../common/number-format.js';

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
    row('most stalls', ({ stalls }) => (stalls.reasons[0] ? onOneLine(stalls.reasons[0].reason) : NONE)),
    row('fetch to retirement', ({ lifetime }) => decimal(lifetime.mean)),
    row('fetch to retirement, p99', ({ lifetime }) => decimal(lifetime.p99)),
    ...slotRows(cores),
    ...ratioRows(cores),
    ...stallRows(cores),
    ...stageRows(cores),
    ...bufferRows(cores),
  ];
}

/** Names in the order in which the cores have them, each once. */
function namesOf(cores: readonly CoreReport[], names: (core: CoreReport) => readonly string[]): string[] {
  return [...new Set(cores.flatMap(names))];
}

/** Share of the cycles by reason; that of the most frequent first. */
function stallRows(cores: readonly CoreReport[]): SummaryRow[] {
  const share = (core: CoreReport, name: string): number | null =>
    core.stalls.reasons.find(({ reason }) => reason === name)?.share ?? null;
  const total = (name: string): number => cores.reduce((sum, core) => sum + (share(core, name) ?? 0), 0);
  return namesOf(cores, ({ stalls }) => stalls.reasons.map(({ reason }) => reason))
    .sort((a, b) => total(b) - total(a))
    .map((name) => ({
      name: `stalled by ${onOneLine(name)}`,
      values: cores.map((core) => percent(share(core, name))),
    }));
}

function stageRows(cores: readonly CoreReport[]): SummaryRow[] {
  const seen = ({ stages }: CoreReport) => stages.filter(({ latency }) => latency.count > 0);
  return namesOf(cores, (core) => seen(core).map(({ stage }) => stage)).map((name) => ({
    name: `cycles in ${onOneLine(name)}`,
    values: cores.map((core) =>
      decimal(seen(core).find(({ stage }) => stage === name)?.latency.mean ?? null),
    ),
  }));
}

/** Top-down: share of the slots by class. */
function slotRows(cores: readonly CoreReport[]): SummaryRow[] {
  const classes = ({ topDown }: CoreReport) => topDown?.classes ?? [];
  return namesOf(cores, (core) => classes(core).map(({ name }) => name)).map((name) => ({
    name: `slots ${onOneLine(name)}`,
    values: cores.map((core) => percent(classes(core).find((one) => one.name === name)?.share ?? null)),
  }));
}

/** All classes together: 100 %, but for instructions in flight at the ends of a range. */
export function countedShare({ counted, slots }: TopDownReport): number | null {
  return slots > 0 ? counted / slots : null;
}

/** By the last part of their names, which cores of one kind share. */
function bufferRows(cores: readonly CoreReport[]): SummaryRow[] {
  const short = (name: string): string => name.slice(name.lastIndexOf('/') + 1);
  return namesOf(cores, ({ buffers }) => buffers.map(({ buffer }) => short(buffer))).map((name) => ({
    name: `occupied in ${onOneLine(name)}`,
    values: cores.map((core) =>
      decimal(core.buffers.find(({ buffer }) => short(buffer) === name)?.mean ?? null),
    ),
  }));
}

/** Branch and cache figures that at least one core has. */
function ratioRows(cores: readonly CoreReport[]): SummaryRow[] {
  const names = [...new Set(cores.flatMap(({ ratios }) => ratios.map(({ name }) => name)))];
  return names.map((name) => ({
    name: onOneLine(name),
    values: cores.map(({ ratios }) => rateOf(ratios.find((one) => one.name === name))),
  }));
}

/** Where there is nothing to relate it to, per 1000 instructions. */
function rateOf(figure: RatioReport | undefined): string {
  if (!figure || figure.denominator !== null) return percent(figure?.ratio ?? null);
  return `${decimal(figure.perKiloInstructions)} per 1000`;
}
