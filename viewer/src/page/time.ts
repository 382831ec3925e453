/** The axis of time that pipeline and tracks share. */
import { computed, signal } from '@preact/signals';
import type { TimeView } from '../model/time-view.js';
import { pictureSize, settings, state } from './store.js';

/** The same object as long as nothing in it changes: what depends on it is not made again for a move of the pointer. */
let last: TimeView | null = null;

/** null: nothing is shown yet. */
export const timeView = computed<TimeView | null>(() => {
  const view = state.value?.view;
  const { width, ratio } = pictureSize.value;
  const plot = Math.floor(width - Math.min(settings.value.gutter, width - 80));
  if (!view || plot <= 0) return null;
  const next = { x: view.x, scale: view.scale, width: plot, ratio };
  const isSame =
    last?.x === next.x && last.scale === next.scale && last.width === plot && last.ratio === ratio;
  if (!isSame) last = next;
  return last;
});

/** The cycle under the pointer while it is over a track. */
export const trackCycle = signal<number | null>(null);

/** The cycle under the pointer, wherever on the axis it is; a whole one. */
export const pointedCycle = computed<number | null>(() => {
  const over = trackCycle.value ?? state.value?.hover?.cycle ?? null;
  return over === null ? null : Math.floor(over);
});
