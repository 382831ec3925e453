/** How the parts of a picture share its height, as the page's stylesheet does it: `.overview-place`, `.picture` and `.track`. */
import { AXIS_HEIGHT } from '../drawing/settings.js';
import { MIN_TRACK, type PanelId, usualSize } from '../model/panels.js';

/** What the pipeline has at least. */
const MIN_PIPELINE = 120;

/**
 * Heights of tracks.
 * @param sizes wanted
 * @param fills the tracks take all of the room: there is no pipeline
 */
export function trackHeights(sizes: readonly number[], room: number, fills: boolean): number[] {
  const least = new Set<number>();
  for (;;) {
    const others = sizes.reduce((sum, size, index) => (least.has(index) ? sum : sum + size), 0);
    const share = Math.max(0, room - least.size * MIN_TRACK) / Math.max(1, others);
    const factor = fills ? share : Math.min(1, share);
    const low = sizes.findIndex((size, index) => !least.has(index) && size * factor < MIN_TRACK);
    if (low < 0) return sizes.map((size, index) => (least.has(index) ? MIN_TRACK : size * factor));
    least.add(low);
  }
}

/** Of a picture, from above; pixels. */
interface Layout {
  readonly overview: number;
  /** Pipeline with its axis, or only the axis. */
  readonly rows: number;
  readonly tracks: readonly number[];
}

/** @param hasCore there are rows */
export function layoutOf(height: number, ids: readonly PanelId[], hasCore: boolean): Layout {
  const overview = usualSize('overview', height);
  const sizes = ids.map((id) => usualSize(id, height));
  const room = height - overview - (hasCore ? MIN_PIPELINE : AXIS_HEIGHT);
  const tracks = trackHeights(sizes, room, !hasCore);
  const all = Math.round(tracks.reduce((sum, one) => sum + one, 0));
  return { overview, rows: hasCore ? Math.max(MIN_PIPELINE, height - overview - all) : AXIS_HEIGHT, tracks };
}
