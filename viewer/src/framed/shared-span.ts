/** Pictures with one scale: what is the whole to each of them is the whole of all, however long its own trace is. */
import { hookOf, type ViewerHook } from './viewer-hook.js';

export class SharedSpan {
  /** A page that was loaded again has another hook. */
  private readonly told = new WeakMap<ViewerHook, string>();

  /** @param lengthOf of a cycle of the axis of a frame; the same for all where cycles are compared */
  constructor(private readonly lengthOf: (frame: HTMLIFrameElement) => number) {}

  /** To be called again and again: traces are opened, and grow. */
  share(frames: readonly HTMLIFrameElement[]): void {
    const open = frames.flatMap((frame) => {
      const hook = hookOf(frame);
      const cycles = hook?.info()?.segmentCycles;
      return hook?.state() && cycles ? [{ hook, length: this.lengthOf(frame), cycles }] : [];
    });
    const from = Math.min(...open.map(({ cycles, length }) => (cycles[0] ?? 0) * length));
    const to = Math.max(...open.map(({ cycles, length }) => (cycles.at(-1) ?? 0) * length));
    for (const { hook, length } of open) {
      const key = `${from / length} ${to / length}`;
      if (this.told.get(hook) === key) continue;
      this.told.set(hook, key);
      hook.run({ do: 'within', from: from / length, to: to / length });
    }
  }
}
