/** The simulated time that a flight recorder keeps at least. */
import { UscopeError } from '../../base/errors.js';
import type { Schema } from '../../format/types.js';
import type { Span } from './options.js';

/** In ps; null: none was asked for. @throws UscopeError SCHEMA_CLOCK */
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
