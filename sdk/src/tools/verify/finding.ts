/** What `verify` finds: collected with a bound, counted without one. */
import { ERROR_CODES, type ErrorCode } from '../../base/codes.js';
import { isUscopeError, type UscopeError } from '../../base/errors.js';

/** error: the file does not hold what it promises. warning: it differs from docs/reference/format.md, yet is read right. info: worth knowing. */
export type Severity = 'error' | 'warning' | 'info';

export interface Finding {
  readonly severity: Severity;
  readonly code: ErrorCode;
  /** File offset; null where the finding is about the whole file. */
  readonly offset: number | null;
  /** What the code means. */
  readonly meaning: string;
  /** What was found here, with names and numbers. */
  readonly detail: string;
}

/** Findings of one code that are reported; a file of noise has millions. */
const MAX_PER_CODE = 200;

export class FindingLog {
  readonly findings: Finding[] = [];
  /** All of them, reported or not. */
  readonly counts: Record<Severity, number> = { error: 0, warning: 0, info: 0 };
  private readonly perCode = new Map<ErrorCode, number>();
  private readonly kinds = new Set<string>();

  constructor(private readonly notify?: (finding: Finding) => void) {}

  /** Findings that were counted and not reported. */
  get untold(): number {
    return this.counts.error + this.counts.warning + this.counts.info - this.findings.length;
  }

  add(severity: Severity, code: ErrorCode, offset: number | null, detail: string): void {
    this.counts[severity]++;
    const known = this.perCode.get(code) ?? 0;
    this.perCode.set(code, known + 1);
    if (known >= MAX_PER_CODE) return;
    const finding = { severity, code, offset, meaning: ERROR_CODES[code], detail };
    this.findings.push(finding);
    this.notify?.(finding);
  }

  /** The same kind of finding is reported once, at its first place. */
  once(kind: string, severity: Severity, code: ErrorCode, offset: number | null, detail: string): void {
    if (this.kinds.has(kind)) return;
    this.kinds.add(kind);
    this.add(severity, code, offset, detail);
  }

  /**
   * An error thrown by a decoder, as a finding at its own place, or at `offset` where it has none.
   * @throws the error when it is not about the file's bytes: a disk that cannot be read, a missing decompressor
   */
  caught(error: unknown, offset: number | null = null): void {
    if (!isFormatError(error)) throw error;
    const place = error.place.offset;
    this.add('error', error.code, place === undefined ? offset : Number(place), error.detail);
  }
}

export function isFormatError(error: unknown): error is UscopeError {
  return isUscopeError(error) && (error.code.startsWith('FORMAT_') || error.code === 'SCHEMA_LIMIT');
}
