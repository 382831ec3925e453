/** Mouse and touch on a track: it moves and zooms the axis of time that all share. */
import type { Command } from '../model/commands.js';
import { wheelCommand, wheelSteps } from './pointer.js';

interface TrackTarget {
  gutter(): number;
  run(command: Command): void;
  /** Pixels down; false: there is nothing further in that direction. */
  scroll(dy: number): boolean;
  /** Pixel of the track's plot. */
  point(at: { x: number; y: number } | null): void;
  /** A click that moved nothing. */
  click?(at: { x: number; y: number }): void;
}

const WHEEL_PIXELS = 40;
const CLICK_SLACK = 4;
const PAN_PART = 0.1;

/** @returns removes the listeners */
export function listenTrack(element: HTMLElement, target: TrackTarget): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  let pressed: { x: number; y: number; moved: boolean } | null = null;
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const at = { x: target.gutter() + place(event).x, y: -1 };
    const { x, y } = wheelSteps(event);
    if (event.ctrlKey || event.metaKey) target.run({ ...wheelCommand(event, at), axis: 'both' } as Command);
    else if (Math.abs(x) > Math.abs(y)) target.run({ do: 'widths', count: x * PAN_PART });
    else if (event.shiftKey || !target.scroll(y * WHEEL_PIXELS))
      target.run({ do: 'widths', count: y * PAN_PART });
  };
  element.addEventListener('wheel', onWheel, { passive: false, signal });
  element.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      pressed = { ...place(event), moved: false };
      element.setPointerCapture(event.pointerId);
    },
    { signal },
  );
  element.addEventListener(
    'pointermove',
    (event) => {
      const at = place(event);
      target.point(at);
      if (!pressed) return;
      const dx = at.x - pressed.x;
      if (!pressed.moved && Math.abs(dx) < CLICK_SLACK) return;
      pressed = { ...at, moved: true };
      target.run({ do: 'drag', dx, dy: 0 });
    },
    { signal },
  );
  const release = (event: PointerEvent): void => {
    if (pressed && !pressed.moved) target.click?.(place(event));
    pressed = null;
  };
  element.addEventListener('pointerup', release, { signal });
  element.addEventListener('pointercancel', () => (pressed = null), { signal });
  element.addEventListener('pointerleave', () => target.point(null), { signal });
  return () => controller.abort();
}
