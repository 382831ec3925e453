/**
 * Decides where a segment ends: the checkpoint grid, soft cuts at an advance of time, hard cuts anywhere. Times in ps as two u32 halves, because
 * this is asked once per frame.
 */
export interface CutLimits {
  /** Checkpoint interval in ps; at least 1. */
  readonly intervalPs: bigint;
  /** Raw delta bytes at which a segment is cut at the next advance of time, and at which it is cut at once. */
  readonly softBytes: number;
  readonly hardBytes: number;
  /** Client bytes (records) the client can hold unacknowledged. */
  readonly creditBytes: number;
}

export const DEFAULT_SOFT_BYTES = 8 * 1024 * 1024;
export const DEFAULT_HARD_BYTES = 32 * 1024 * 1024;

const MAX_U64 = 0xffff_ffff_ffff_ffffn;

export class CutPolicy {
  /** Client bytes received since the last cut. */
  clientBytes = 0;
  /** Wall clock time asks for a cut: frames have waited for a second. */
  overdue = false;
  /** The grid point, ps as u32 halves. */
  nextLo = 0;
  nextHi = 0;
  private readonly softClientBytes: number;
  private readonly hardClientBytes: number;

  constructor(private readonly limits: CutLimits) {
    this.softClientBytes = limits.creditBytes / 2;
    this.hardClientBytes = (limits.creditBytes / 4) * 3;
    this.restart(0n);
  }

  /** A segment starts at `startPs`: the grid point is the smallest multiple of the interval greater than that. */
  restart(startPs: bigint): void {
    const next = (startPs / this.limits.intervalPs + 1n) * this.limits.intervalPs;
    const bounded = next > MAX_U64 ? MAX_U64 : next;
    this.nextLo = Number(bounded & 0xffff_ffffn);
    this.nextHi = Number(bounded >> 32n);
    this.clientBytes = 0;
    this.overdue = false;
  }

  /** Time t has reached the grid point. */
  gridReached(lo: number, hi: number): boolean {
    return hi > this.nextHi || (hi === this.nextHi && lo >= this.nextLo);
  }

  /** Raw bytes at which the segment is to be cut at the next advance of time; fixed while no client bytes arrive. */
  get softLimit(): number {
    return this.overdue || this.clientBytes >= this.softClientBytes ? 0 : this.limits.softBytes;
  }

  /** Raw bytes at which it is to be cut at once, even within one instant. */
  get hardLimit(): number {
    return this.clientBytes >= this.hardClientBytes ? 0 : this.limits.hardBytes;
  }
}
