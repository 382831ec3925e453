/** Files that end early: everything before the end counts, and the user gets to know. */
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import type { TraceStats } from '../../writer/index.js';
import type { ConversionContext } from './foreign-format.js';

export function isCut(error: unknown): error is UscopeError {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
}

/** Runs a pass over a file. @returns the error that says where the file ends early; null: it is whole @throws every other error */
export async function untilCut(pass: () => Promise<void>): Promise<UscopeError | null> {
  try {
    await pass();
    return null;
  } catch (error) {
    if (isCut(error)) return error;
    throw error;
  }
}

/** What an import gives. */
export interface Imported {
  readonly stats: TraceStats;
  /** The file was cut: what came before is in the trace. */
  readonly isPartial: boolean;
}

/** A foreign file that may turn out to be cut. */
export abstract class MaybeCut {
  isPartial = false;

  /** Notes a cut. @throws every other error */
  protected noteCut(error: unknown, context?: ConversionContext): void {
    if (!isCut(error)) throw error;
    this.isPartial = true;
    context?.onWarning?.(error.message);
  }

  protected noteImport({ stats, isPartial }: Imported): TraceStats {
    this.isPartial ||= isPartial;
    return stats;
  }
}
