/** A sink that remembers what it was given and, on request, is as slow as a full disk. */
import type { UscopeError } from '../../sdk/src/base/errors.js';
import type { TraceSink } from '../../sdk/src/bridge/session/sink.js';
import { SessionStatus } from '../../sdk/src/format/session-chunk.js';
import type { Schema } from '../../sdk/src/format/types.js';
import type { AcceptedStats, SessionEnd, TraceStats } from '../../sdk/src/writer/index.js';

const SCHEMA: Schema = { clocks: [], scopes: [], enums: [], storages: [], events: [], summaryFields: [] };
const STATS: TraceStats = {
  path: '/x.uscope',
  status: SessionStatus.OPEN,
  frames: 0n,
  items: 0n,
  strings: 0n,
  segments: 0,
  bytes: 0n,
  totalTimePs: 0n,
  accepted: { frames: 0n, items: 0n, totalTimePs: 0n },
  rejected: 0n,
  lost: 0n,
};

export class SlowSink implements TraceSink {
  windows: readonly Uint8Array[] = [];
  isLarge = false;
  readonly path = STATS.path;
  readonly schema = SCHEMA;
  nextFrame = 0n;
  nextString = 0n;
  durableFrames = 0n;
  hold: Promise<void> | null = null;
  failure: UscopeError | null = null;
  ended: SessionEnd | null = null;
  /** Ordinals of the frames, as their records say. */
  readonly ordinals: number[] = [];

  get accepted(): AcceptedStats {
    return { frames: this.nextFrame, items: this.nextFrame, totalTimePs: 0n };
  }

  get stats(): TraceStats {
    const { durableFrames: frames, accepted } = this;
    return { ...STATS, frames, items: frames, accepted };
  }

  get congested(): boolean {
    return this.hold !== null;
  }

  push(words: Uint32Array): void {
    if (this.failure) throw this.failure;
    for (let at = 0; at < words.length; at += 4) {
      if ((words[at] & 0xff) !== 0x11) continue;
      this.ordinals.push(words[at + 2]);
      this.nextFrame++;
    }
  }

  pushSome(words: Uint32Array, first: number, end: number): number {
    this.push(words.subarray(first, end));
    return end;
  }

  async ready(): Promise<void> {
    await this.hold;
  }

  restartStream(): void {}

  async flush(): Promise<void> {
    await this.hold;
    this.durableFrames = this.nextFrame;
  }

  async close(end: SessionEnd): Promise<TraceStats> {
    if (this.failure?.code === 'WRITER_IO') throw this.failure;
    this.ended = end;
    this.durableFrames = this.nextFrame;
    return { ...this.stats, status: end.status, lost: end.lost ?? 0n, rejected: end.rejected ?? 0n };
  }

  hasten(): void {}

  abortWaiting(): void {}
}

export interface Gate {
  /** Resolves when `open` has been called. */
  readonly hold: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => {};
  const hold = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { hold, open };
}
