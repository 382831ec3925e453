/** Options of conversions from and to FTR. */

import type { FormatOption } from '../common/foreign-format.js';
import { choice } from '../common/options.js';
import type { FtrWriterOptions } from './writer.js';

export const OPTIONS: readonly FormatOption[] = [
  {
    name: 'unit',
    help: 'what transactions count time in: ps (default), as their usual writer does whatever the header says, or header',
    direction: 'import',
  },
  {
    name: 'compression',
    help: 'lz4 or none; default: as the FTR file that the trace came from, else lz4',
    direction: 'export',
  },
  {
    name: 'float',
    help: 'auto (default: f32 where that loses nothing, which some viewers insist on, else f64), f32 or f64',
    direction: 'export',
  },
  {
    name: 'text',
    help: 'exact (default: bytes that are not UTF-8 are written as they are) or valid (U+FFFD in their place)',
    direction: 'export',
  },
  {
    name: 'content',
    help: 'transactions (the recorded ones alone) or trace (scopes, storages and events as transactions); default: transactions where the trace holds some',
    direction: 'export',
  },
  {
    name: 'streams',
    help: 'of a trace: merged (default, one file) or separate (one file for each scope at root level)',
    direction: 'export',
  },
];

export interface FtrExportOptions {
  readonly writer: FtrWriterOptions;
  /** null: not said. */
  readonly content: 'transactions' | 'trace' | null;
  readonly isSeparate: boolean;
}

/** @throws UscopeError CONVERT_OPTION */
export function exportOptions(options: ReadonlyMap<string, string>): FtrExportOptions {
  return {
    writer: {
      compression: choice(options, 'compression', ['lz4', 'none']) ?? undefined,
      float: choice(options, 'float', ['auto', 'f32', 'f64']) ?? 'auto',
      text: choice(options, 'text', ['exact', 'valid']) ?? 'exact',
    },
    content: choice(options, 'content', ['transactions', 'trace']),
    isSeparate: choice(options, 'streams', ['merged', 'separate']) === 'separate',
  };
}

/** @throws UscopeError CONVERT_OPTION */
export function timeUnit(options: ReadonlyMap<string, string>): TimeUnit {
  return choice(options, 'unit', ['ps', 'header']) ?? 'ps';
}

// Ticks of an FTR file as picoseconds.

export const PS_EXPONENT = -12;
/** The last time at which a frame may be: a segment ends after it. */
const MAX_TIME_PS = 0xffff_ffff_ffff_fffen;
const MAX_PERIOD = 0xffff_ffff;

/** What transactions count time in: picoseconds whatever the header says, as their usual writer does, or what the header says. */
export type TimeUnit = 'ps' | 'header';

/** Ticks to picoseconds, at most MAX_TIME_PS. */
export class TimeScale {
  readonly periodPs: number;
  private readonly factor: bigint;
  private readonly divisor: bigint;

  constructor(unit: TimeUnit, exponent: number) {
    const shift = unit === 'header' ? exponent - PS_EXPONENT : 0;
    this.factor = shift > 0 ? 10n ** BigInt(shift) : 1n;
    this.divisor = shift < 0 ? 10n ** BigInt(-shift) : 1n;
    this.periodPs = this.factor <= BigInt(MAX_PERIOD) ? Number(this.factor) : 0;
  }

  get isIdentity(): boolean {
    return this.factor === 1n && this.divisor === 1n;
  }

  toPs(ticks: bigint): bigint {
    const ps = (ticks * this.factor) / this.divisor;
    return ps > MAX_TIME_PS ? MAX_TIME_PS : ps;
  }
}
