/** Several pictures on one time axis, whatever the periods of their clocks: the one that the user touched last leads, the others follow it. */
import { SharedSpan } from '../framed/shared-span.js';
import { hookOf } from '../framed/viewer-hook.js';
import type { View } from '../model/view.js';

/** What of the time is on screen. */
export interface TimeWindow {
  /** Picoseconds at the left edge of the plot. */
  readonly fromPs: number;
  /** Pixels per picosecond. */
  readonly scale: number;
}

interface SyncedFrame {
  readonly key: string;
  readonly element: HTMLIFrameElement;
}

/** Picoseconds in a cycle of a frame's axis. */
export const periodOf = (frame: HTMLIFrameElement): number => hookOf(frame)?.info()?.clock?.periodPs || 1;

const windowOf = ({ x, scale }: View, periodPs: number): TimeWindow => ({
  fromPs: x * periodPs,
  scale: scale / periodPs,
});

export class TimeSync {
  private frames: readonly SyncedFrame[] = [];
  private leader: string | null = null;
  private known: TimeWindow | null = null;
  private readonly followed = new Map<string, TimeWindow>();
  private readonly span = new SharedSpan(periodOf);
  private timer = 0;

  /** @param moved the time on screen is another one */
  constructor(private readonly moved: (window: TimeWindow) => void) {
    const look = (): void => {
      this.look();
      this.timer = requestAnimationFrame(look);
    };
    look();
  }

  close(): void {
    cancelAnimationFrame(this.timer);
  }

  use(frames: readonly SyncedFrame[]): void {
    this.frames = frames;
  }

  /** The user touches this picture. */
  touch(key: string): void {
    if (key === this.leader) return;
    this.leader = key;
    this.known = this.read(key);
  }

  /** Shows a stretch of time in all pictures, with room around it. */
  show(fromPs: number, toPs: number, plotWidth: number): void {
    const scale = Math.min(
      this.known?.scale ?? Number.POSITIVE_INFINITY,
      (plotWidth * 0.6) / (toPs - fromPs),
    );
    const middle = (fromPs + toPs) / 2;
    this.followed.clear();
    this.apply({ fromPs: middle - plotWidth / 2 / scale, scale });
  }

  private look(): void {
    this.span.share(this.frames.map(({ element }) => element));
    if (!this.frames.some(({ key }) => key === this.leader)) this.leader = this.frames[0]?.key ?? null;
    const now = this.leader === null ? null : this.read(this.leader);
    if (!now) return;
    if (!isSame(now, this.known)) {
      this.known = now;
      this.moved(now);
    }
    for (const { key } of this.frames) if (key !== this.leader) this.follow(key, now);
  }

  /** Also those that have come later, or whose trace was opened later. */
  private follow(key: string, window: TimeWindow): void {
    const frame = this.frames.find((one) => one.key === key)!.element;
    if (isSame(window, this.followed.get(key) ?? null) || !hookOf(frame)?.state()) return;
    this.followed.set(key, window);
    move(frame, window);
  }

  private apply(window: TimeWindow): void {
    for (const { key, element } of this.frames) {
      if (!hookOf(element)?.state()) continue;
      this.followed.set(key, window);
      move(element, window);
    }
    this.known = window;
    this.moved(window);
  }

  private read(key: string): TimeWindow | null {
    const frame = this.frames.find((one) => one.key === key)?.element;
    const view = frame ? hookOf(frame)?.state()?.view : null;
    return frame && view ? windowOf(view, periodOf(frame)) : null;
  }
}

/** The rows come to where the time is. */
function move(frame: HTMLIFrameElement, { fromPs, scale }: TimeWindow): void {
  const hook = hookOf(frame);
  const state = hook?.state();
  if (!hook || !state) return;
  const periodPs = periodOf(frame);
  const view = { ...state.view, x: fromPs / periodPs, scale: scale * periodPs };
  hook.run({ do: 'view', view, selected: state.selectedRow });
  if (state.form !== 'strip') hook.run({ do: 'return' });
}

function isSame(a: TimeWindow, b: TimeWindow | null): boolean {
  const near = (x: number, y: number): boolean => Math.abs(x - y) <= 1e-6 * Math.max(1, Math.abs(x));
  return b !== null && near(a.fromPs, b.fromPs) && near(a.scale, b.scale);
}
