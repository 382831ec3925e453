/** What a flight recorder gets. */

import { UscopeError } from '../../base/errors.js';
import type { Schema } from '../../format/types.js';
import type { TriggerFile } from '../contract/ring-report.js';
import type { TriggerSource } from './trigger-scan.js';

export interface RingOptions {
  /** Bytes the spool may take, plus one segment; at least `MIN_RING_BYTES`. Absent: `span` alone bounds it. */
  readonly maxBytes?: number | undefined;
  /** Simulated time that is kept at least, in ps or in cycles of the trace's first clock; what is older is let go. */
  readonly span?: Span | undefined;
  /** Simulated time in ps that is recorded after a trigger before its file is made; default 0. */
  readonly afterPs?: bigint | undefined;
  /** Files that triggers may make; further triggers are counted. Default `DEFAULT_TRIGGER_FILES`. */
  readonly triggerFiles?: number | undefined;
  /** Events that are triggers. */
  readonly triggers?: TriggerSource | undefined;
  /** A trigger's file is there, or could not be made. */
  readonly onTriggerFile?: ((file: TriggerFile, error: UscopeError | null) => void) | undefined;
}

export type Span = { readonly ps: bigint } | { readonly cycles: bigint };

export const MIN_RING_BYTES = 64 * 1024;
export const DEFAULT_TRIGGER_FILES = 8;

/** The simulated time in ps that a flight recorder keeps at least; null: none was asked for. @throws UscopeError SCHEMA_CLOCK */
export function spanOf(schema: Schema, span: Span | undefined): bigint | null {
  if (span === undefined) return null;
  if ('ps' in span) return span.ps;
  const [clock] = schema.clocks;
  if (clock && clock.periodPs > 0) return span.cycles * BigInt(clock.periodPs);
  const which = clock ? `the period of its first clock, "${clock.name}", is unknown` : 'it has no clock';
  throw new UscopeError(
    'SCHEMA_CLOCK',
    `the last ${span.cycles} cycles of the trace cannot be kept: ${which}; give a time`,
  );
}
