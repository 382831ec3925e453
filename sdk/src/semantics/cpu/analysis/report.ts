/** What the performance analysis of a range found: plain data, for printing, plotting and programs. */

/** The analysis of one range over one or more cores. */
export interface PerformanceReport {
  /** The range in ps, start inclusive, end exclusive, as far as the trace covers it. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  readonly percentiles: PercentileError;
  readonly cores: readonly CoreReport[];
}

/** How exact the percentiles of distributions are. */
export interface PercentileError {
  /** Up to this value they are exact. */
  readonly exactUpTo: number;
  /** Above they may be too large, at most by this part of the value. */
  readonly relativeError: number;
}

/**
 * Counts are of what lies in the range. Cycles are those of the core's clock; a rate is null where its base is 0 or not known.
 * Numbers are exact up to 2^53.
 */
export interface CoreReport {
  /** `CpuCore.name`. */
  readonly core: string;
  readonly clock: string | null;
  readonly periodPs: bigint;
  readonly isa: string | null;
  /** First cycle, inclusive, and last, exclusive. */
  readonly fromCycle: bigint;
  readonly toCycle: bigint;
  /** Clock cycles of the range: `toCycle - fromCycle`. */
  readonly clockCycles: number;
  /** What rates refer to: the clock's cycles; those the core itself counted where it counts them and differs by no more than one. */
  readonly cycles: number;
  /** The counter after `cycles`; null: the clock. */
  readonly cyclesCounter: string | null;
  readonly instructions: InstructionReport;
  readonly flushes: FlushReport;
  readonly stalls: StallReport;
  /** In pipeline order; stages that only single instructions name follow. */
  readonly stages: readonly StageReport[];
  /** From fetch to retirement, of retired instructions. */
  readonly lifetime: Distribution;
  /** The catalog of instructions in flight first, then the core's buffers. */
  readonly buffers: readonly BufferFigures[];
  readonly counters: readonly CounterFigures[];
  /** Classes of the retired instructions, most frequent first; empty where the machine code says nothing. */
  readonly mix: readonly MixEntry[];
  /** Branch and cache figures, as far as there are counters for them. */
  readonly ratios: readonly RatioReport[];
  /** Null: the core does not count its slots. */
  readonly topDown: TopDownReport | null;
  /** Where the core has a counter for what the analysis counted by itself, both. */
  readonly checks: readonly CounterCheck[];
  /** Null when none was asked for. */
  readonly series: SeriesReport | null;
}

export interface InstructionReport {
  /** Retired instructions per cycle. Null also where the trace's time is made up (DUT property `time.synthetic`). */
  readonly ipc: number | null;
  /** Cycles per retired instruction. */
  readonly cpi: number | null;
  /** Null: the core records neither instructions nor a counter of them. */
  readonly retired: number | null;
  /** Where `retired` comes from: the instructions recorded, or the counter of this name. */
  readonly retiredFrom: 'instructions' | { readonly counter: string } | null;
  readonly fetched: number;
  /** Instructions squashed by a flush. */
  readonly squashed: number;
  /** Their slot was given away without having been cleared: the trace does not say how they ended. */
  readonly lost: number;
  readonly inFlightAtStart: number;
  readonly inFlightAtEnd: number;
  /** Share of the instructions ended that were squashed. */
  readonly squashedShare: number | null;
  /** Cycles by number of instructions retired in them; index 0: cycles without. Empty without recorded instructions. */
  readonly retiredPerCycle: readonly number[];
}

export interface FlushReport {
  /** Cycles in which the pipeline was flushed, for whatever reason. */
  readonly flushes: number;
  readonly perKiloInstructions: number | null;
  readonly reasons: readonly FlushReason[];
}

export interface FlushReason {
  readonly reason: string;
  /** Cycles in which this reason squashed something. */
  readonly flushes: number;
  /** Instructions it squashed. */
  readonly squashed: number;
  readonly perKiloInstructions: number | null;
  /** Of all flushes. */
  readonly share: number;
}

export interface StallReport {
  /** Cycles with at least one stall. */
  readonly cycles: number;
  readonly share: number | null;
  /** Most cycles first. */
  readonly reasons: readonly StallReason[];
}

export interface StallReason {
  readonly reason: string;
  readonly events: number;
  /** Cycles with such an event. */
  readonly cycles: number;
  /** Of all cycles of the range. Several reasons may hold in one cycle: the shares may add up to more than `StallReport.share`. */
  readonly share: number | null;
  /** Runs of cycles one after the other. */
  readonly episodes: number;
  readonly longest: number;
}

/**
 * A distribution of whole numbers. Count, mean, min and max are exact; percentiles (nearest rank: a value that occurred, the least that as many do
 * not exceed) as `PercentileError` says.
 */
export interface Distribution {
  readonly count: number;
  readonly mean: number | null;
  readonly min: number | null;
  readonly median: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  /** Classes that occur, rising: values `from` to `to` (inclusive) and how many there were. About 60 at most. */
  readonly classes: readonly DistributionClass[];
}

export interface DistributionClass {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface StageReport {
  readonly stage: string;
  /** Cycles from entering the stage to leaving it for another one or by retiring, of visits that ended in the range. */
  readonly latency: Distribution;
  /** Visits cut short by a flush; not in `latency`. */
  readonly squashed: number;
  /** Visits that ended in the range, but began before what was looked at; not in `latency`. */
  readonly unknown: number;
}

export interface BufferFigures {
  /** Name of the storage. */
  readonly buffer: string;
  readonly slots: number;
  /** Occupied slots, averaged over the cycles of the range. */
  readonly mean: number | null;
  readonly median: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  /** Share of the cycles in which every slot, or none, was occupied. */
  readonly fullShare: number | null;
  readonly emptyShare: number | null;
  /** Cycles by occupied slots at the end of the cycle, up to the most that occurred. */
  readonly histogram: readonly number[];
}

export interface CounterFigures {
  readonly counter: string;
  /** Values before the first cycle of the range and after the last one. */
  readonly start: bigint;
  readonly end: bigint;
  /** What was added in the range: `end - start`, negative where the counter was set back. */
  readonly delta: bigint;
  readonly perCycle: number | null;
  readonly perKiloInstructions: number | null;
}

export interface MixEntry {
  readonly kind: string;
  readonly count: number;
  readonly share: number;
}

export interface RatioReport {
  /** `branch misprediction`, `dcache miss`, … */
  readonly name: string;
  /** Numerator / denominator; null where there is no denominator. */
  readonly ratio: number | null;
  /** Names of the counters, or what else was counted. */
  readonly numerator: string;
  readonly denominator: string | null;
  readonly count: number;
  readonly of: number | null;
  readonly perKiloInstructions: number | null;
}

/** What became of the slots that a core has in each cycle, by its counters `slots_NAME`. */
export interface TopDownReport {
  /** Slots per cycle. */
  readonly width: number;
  /** Of the range: `width` times its cycles. */
  readonly slots: number;
  /** Of all classes. It is `slots`, but for those of instructions in flight at the start and the end of the range. */
  readonly counted: number;
  readonly classes: readonly SlotClass[];
}

export interface SlotClass {
  /** `retiring`, `bad_speculation`, … */
  readonly name: string;
  readonly slots: number;
  /** Of `TopDownReport.slots`. */
  readonly share: number | null;
}

export interface CounterCheck {
  /** What was counted, in words: `retired instructions`, `stall cycles: load_use`. */
  readonly what: string;
  readonly counted: number;
  readonly counter: string;
  readonly value: bigint;
}

/** The range in intervals of equal length; the last may be shorter. All arrays have one entry per interval. */
export interface SeriesReport {
  readonly intervalCycles: number;
  /** First cycle of each interval, counted from `fromCycle`. */
  readonly start: readonly number[];
  /** Cycles of each interval. */
  readonly cycles: readonly number[];
  /** Retired instructions per clock cycle. */
  readonly ipc: readonly number[];
  /** Squashed instructions. */
  readonly squashed: readonly number[];
  readonly flushes: readonly number[];
  /** Per reason, as in `StallReport.reasons`: stalled cycles. */
  readonly stalls: readonly { readonly reason: string; readonly cycles: readonly number[] }[];
  /** As `CoreReport.buffers`: mean of the occupied slots. */
  readonly buffers: readonly { readonly buffer: string; readonly mean: readonly number[] }[];
  /** As `CoreReport.counters`: what was added. */
  readonly counters: readonly { readonly counter: string; readonly delta: readonly number[] }[];
}
