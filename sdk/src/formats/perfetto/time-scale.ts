/** Perfetto counts in whole nanoseconds; cores are faster. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../../semantics/cpu/index.js';

/** Of a time in ps, as a number a safe integer: what the timeline calls ns. */
export type TimeScale = (timePs: number | bigint) => number;

export interface ChosenScale {
  readonly toNs: TimeScale;
  /** What a nanosecond of the timeline is. */
  readonly meaning: string;
  /** Times may be rounded down. */
  readonly isExact: boolean;
}

/**
 * `time=ns`: real nanoseconds, rounded down. `time=ps`: a nanosecond of the timeline is a picosecond. `time=cycles`: `cycle` (default 1)
 * nanoseconds of the timeline are a cycle of the first core's clock. Without the option: ns where all periods are whole ns, else ps.
 * @throws UscopeError CONVERT_OPTION
 */
export function timeScale(
  trace: Trace,
  cores: readonly CpuCore[],
  options: ReadonlyMap<string, string>,
): ChosenScale {
  const periods = trace.schema.clocks.map(({ periodPs }) => periodPs);
  const isWholeNs = periods.length > 0 && periods.every((ps) => ps > 0 && ps % 1000 === 0);
  const wanted = options.get('time') ?? (options.has('cycle') ? 'cycles' : isWholeNs ? 'ns' : 'ps');
  if (wanted === 'ns') return { toNs: (ps) => scaled(ps, 1n, 1000n), meaning: '1 ns', isExact: isWholeNs };
  if (wanted === 'ps') return { toNs: Number, meaning: '1 ps of the trace', isExact: true };
  if (wanted !== 'cycles') throw new UscopeError('CONVERT_OPTION', `time=${wanted}: it is ns, ps or cycles`);
  const text = options.get('cycle') ?? '1';
  const perCycle = /^\d{1,9}$/.test(text) ? BigInt(text) : 0n;
  if (perCycle === 0n) throw new UscopeError('CONVERT_OPTION', `cycle=${text}: a whole number of ns, from 1`);
  const [core] = cores;
  const period = core?.periodPs ?? BigInt(periods[0] ?? 0);
  if (period === 0n)
    throw new UscopeError('CONVERT_OPTION', 'time=cycles: the period of the clock is not known');
  const isExact = periods.every((ps) => (BigInt(ps) * perCycle) % period === 0n);
  return {
    toNs: (ps) => scaled(ps, perCycle, period),
    meaning: `1/${perCycle} cycle of ${core?.clock?.name ?? 'the first clock'}`,
    isExact,
  };
}

/** `ps` times `factor` by `divisor`, rounded down. */
function scaled(ps: number | bigint, factor: bigint, divisor: bigint): number {
  const product = Number(ps) * Number(factor);
  if (Number.isSafeInteger(product)) return (product - (product % Number(divisor))) / Number(divisor);
  return Number((BigInt(ps) * factor) / divisor);
}
