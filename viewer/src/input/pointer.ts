/** Mouse, touchpad and touch on the picture. */
import type { Command } from '../model/commands.js';
import { ROWS_PER_STEP } from './actions.js';

interface PointerTarget {
  run(command: Command): void;
  point(at: { x: number; y: number } | null): void;
  /** What the pointer takes instead of the picture; null: nothing. */
  take?(at: { x: number; y: number }, isShifted: boolean): Taken | null;
  /** A click that moved nothing. @param isLabel left of the plot */
  click(at: { x: number; y: number }, isLabel: boolean): void;
}

/** What follows the pointer until it is let go. */
interface Taken {
  move(x: number): void;
  end(isClick: boolean): void;
}

/** Pixels of one step of a wheel that reports pixels. */
const WHEEL_STEP = 100;
/** Moves of the pointer up to here are a click. */
const CLICK_SLACK = 4;
const PINCH_SPEED = 0.01;
const WHEEL_ZOOM = 2 ** 0.25;
const DOUBLE_CLICK_ZOOM = 2;

/** Steps of a wheel; a touchpad makes fractions of them. */
export function wheelSteps(event: Pick<WheelEvent, 'deltaMode' | 'deltaX' | 'deltaY'>): {
  x: number;
  y: number;
} {
  const scale = event.deltaMode === 1 ? 1 / 3 : event.deltaMode === 2 ? 10 : 1 / WHEEL_STEP;
  // Machines differ in what one notch is: 100 to 120 pixels is one step.
  const steps = (delta: number): number =>
    event.deltaMode === 0 && Math.abs(delta) >= WHEEL_STEP && Math.abs(delta) <= 120
      ? Math.sign(delta)
      : delta * scale;
  return { x: steps(event.deltaX), y: steps(event.deltaY) };
}

/** What a turn of the wheel means. */
export function wheelCommand(event: WheelEvent, at: { x: number; y: number }): Command {
  const { x, y } = wheelSteps(event);
  if (event.ctrlKey || event.metaKey) {
    // A pinch comes as small pixels with Ctrl.
    const isPinch = event.deltaMode === 0 && Math.abs(event.deltaY) < 50;
    const factor = isPinch ? Math.exp(-event.deltaY * PINCH_SPEED) : WHEEL_ZOOM ** -y;
    return { do: 'zoom', factor, at, axis: event.altKey ? 'time' : 'both' };
  }
  // Browsers turn Shift and wheel sideways.
  if (event.shiftKey) return { do: 'rows', count: (y || x) * ROWS_PER_STEP, follow: false };
  if (Math.abs(x) > Math.abs(y)) return { do: 'drag', dx: -x * WHEEL_STEP, dy: 0 };
  return { do: 'rows', count: y * ROWS_PER_STEP, follow: true };
}

/** @returns removes the listeners */
export function listen(element: HTMLElement, gutter: () => number, target: PointerTarget): () => void {
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  let pressed: { x: number; y: number; moved: boolean } | null = null;
  let taken: Taken | null = null;
  const controller = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    options: AddEventListenerOptions = {},
  ): void => element.addEventListener(type, listener, { ...options, signal: controller.signal });

  on(
    'wheel',
    (event) => {
      event.preventDefault();
      target.run(wheelCommand(event, place(event)));
    },
    { passive: false },
  );
  on('pointerdown', (event) => {
    if (event.button !== 0) return;
    pressed = { ...place(event), moved: false };
    taken = target.take?.(pressed, event.shiftKey) ?? null;
    element.setPointerCapture(event.pointerId);
  });
  on('pointermove', (event) => {
    const at = place(event);
    target.point(at);
    if (!pressed) return;
    const [dx, dy] = [at.x - pressed.x, at.y - pressed.y];
    if (!pressed.moved && Math.hypot(dx, dy) < CLICK_SLACK) return;
    pressed = { ...at, moved: true };
    if (taken) {
      taken.move(at.x);
      return;
    }
    element.classList.add('dragging');
    target.run({ do: 'drag', dx, dy });
  });
  on('pointerup', (event) => {
    const at = place(event);
    if (taken && pressed) taken.end(!pressed.moved);
    else if (pressed && !pressed.moved && event.detail < 2) target.click(at, at.x < gutter());
    pressed = null;
    taken = null;
    element.classList.remove('dragging');
  });
  on('pointercancel', () => {
    taken?.end(false);
    pressed = null;
    taken = null;
    element.classList.remove('dragging');
  });
  on('pointerleave', () => target.point(null));
  on('dblclick', (event) => {
    const factor = event.shiftKey ? 1 / DOUBLE_CLICK_ZOOM : DOUBLE_CLICK_ZOOM;
    target.run({ do: 'zoom', factor, at: place(event), axis: 'both' });
  });
  return () => controller.abort();
}
