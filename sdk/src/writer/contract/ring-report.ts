/** What a flight recorder reports. */
/** A file that a trigger has made. */
export interface TriggerFile {
  readonly path: string;
  readonly label: string;
  /** Of the trigger, ps. */
  readonly timePs: bigint;
  /** Size of the file. */
  readonly bytes: number;
}

/** What a flight recorder has kept and let go, so far. */
export interface RingReport {
  /** Bytes on disk: now, and most at any moment, files being assembled included. */
  readonly spoolBytes: number;
  readonly peakBytes: number;
  /** Segments and frames that were let go. */
  readonly expiredSegments: number;
  readonly expiredFrames: bigint;
  /** Start of the oldest segment kept, ps. */
  readonly firstTimePs: bigint;
  /** Triggers seen; those beyond the limit made no file. */
  readonly triggers: number;
  readonly triggersWithoutFile: number;
  readonly files: readonly TriggerFile[];
  /** Triggers whose file could not be made, and why. */
  readonly failures: readonly string[];
}
