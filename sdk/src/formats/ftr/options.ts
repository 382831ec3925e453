/** Options of conversions from and to FTR. */
import { UscopeError } from '../../base/errors.js';
import type { FormatOption } from '../common/foreign-format.js';
import type { TimeUnit } from './time-scale.js';
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
      compression: oneOf(options, 'compression', ['lz4', 'none']) ?? undefined,
      float: oneOf(options, 'float', ['auto', 'f32', 'f64']) ?? 'auto',
      text: oneOf(options, 'text', ['exact', 'valid']) ?? 'exact',
    },
    content: oneOf(options, 'content', ['transactions', 'trace']),
    isSeparate: oneOf(options, 'streams', ['merged', 'separate']) === 'separate',
  };
}

/** @throws UscopeError CONVERT_OPTION */
export function timeUnit(options: ReadonlyMap<string, string>): TimeUnit {
  return oneOf(options, 'unit', ['ps', 'header']) ?? 'ps';
}

function oneOf<const T extends string>(
  options: ReadonlyMap<string, string>,
  name: string,
  values: readonly T[],
): T | null {
  const given = options.get(name);
  if (given === undefined) return null;
  const value = values.find((one) => one === given);
  if (value !== undefined) return value;
  throw new UscopeError('CONVERT_OPTION', `${name}=${given}: it is one of ${values.join(', ')}`);
}
