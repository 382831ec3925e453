/** Things a trace does that are not as docs/reference/format.md says, yet readable: each kind is noted once. */
export type WarningKind =
  | 'damaged-preamble'
  | 'checkpoints-after-segment'
  | 'slot-out-of-range'
  | 'unknown-event'
  | 'string-not-utf8'
  | 'no-commit-record'
  | 'no-string-table'
  | 'dense-buffer-lookback'
  | 'index-damaged'
  | 'index-foreign';

export interface TraceWarning {
  readonly kind: WarningKind;
  /** A sentence for people, with names and numbers of the first occurrence. */
  readonly message: string;
}

export class Warnings {
  readonly list: TraceWarning[] = [];
  private readonly seen = new Set<WarningKind>();

  constructor(private readonly notify?: (warning: TraceWarning) => void) {}

  add(kind: WarningKind, message: string): void {
    if (this.seen.has(kind)) return;
    this.seen.add(kind);
    const warning = { kind, message };
    this.list.push(warning);
    this.notify?.(warning);
  }
}
