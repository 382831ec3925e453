/** Page ↔ drawing worker. */
import type { Command } from '../model/commands.js';
import type { Places } from '../model/places.js';
import type { RowDetails } from '../model/row.js';
import type { View } from '../model/view.js';
import type { LegendEntry } from './colouring.js';
import type { Pointer } from './frame.js';
import type { FormName, Settings } from './settings.js';

export interface CanvasSize {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

export type SceneRequest =
  | {
      readonly type: 'start';
      readonly canvas: OffscreenCanvas;
      readonly minimap: OffscreenCanvas;
      readonly port: MessagePort;
      readonly settings: Settings;
      readonly size: CanvasSize;
      readonly minimapSize: CanvasSize;
      /** What to show first; null: the beginning. */
      readonly view: View | null;
      readonly selected: number | null;
      readonly at: number | null;
    }
  | { readonly type: 'resize'; readonly size: CanvasSize; readonly minimapSize: CanvasSize }
  | { readonly type: 'settings'; readonly settings: Settings }
  | { readonly type: 'pointer'; readonly pointer: Pointer | null }
  | { readonly type: 'command'; readonly command: Command }
  /** Cursors, range and bookmarks. */
  | { readonly type: 'places'; readonly places: Places }
  /** What the search found, both rising; empty: nothing is marked. */
  | { readonly type: 'hits'; readonly rows: Float64Array; readonly cycles: Float64Array }
  /** The hit that the search went to last. */
  | { readonly type: 'hit'; readonly cycle: number }
  /** What is written beside instructions, by hexadecimal address. */
  | { readonly type: 'sources'; readonly texts: readonly (readonly [string, string])[] }
  /** Answered with `picture`: what is shown now, without the pointer. */
  | { readonly type: 'picture'; readonly kind: 'png' | 'svg'; readonly id: number }
  /** Answered with `row`, for tests and copying. */
  | { readonly type: 'describe'; readonly row: number; readonly id: number };

/** After each picture. */
export interface SceneState {
  readonly view: View;
  readonly form: FormName;
  readonly rows: number;
  readonly isCounted: boolean;
  readonly progress: number;
  /** Sums of the whole run are known. */
  readonly hasOverview: boolean;
  /** Everything that the picture needs is drawn. */
  readonly isSharp: boolean;
  readonly selected: RowDetails | null;
  readonly selectedRow: number | null;
  readonly hover: { readonly details: RowDetails | null; readonly cycle: number } | null;
  readonly legend: readonly LegendEntry[];
  /** The picture moves with the end of a trace that is being written. */
  readonly isFollowing: boolean;
  readonly frame: number;
  /** Milliseconds that drawing took. */
  readonly ms: number;
}

export type SceneReport =
  | { readonly type: 'drawn'; readonly state: SceneState }
  | { readonly type: 'row'; readonly id: number; readonly details: RowDetails | null }
  /** PNG: a blob; SVG: what is inside of the `svg` element. */
  | { readonly type: 'picture'; readonly id: number; readonly picture: Blob | string }
  | { readonly type: 'noPicture'; readonly id: number; readonly message: string }
  /** Addresses of rows beside which nothing is written yet; each once. */
  | { readonly type: 'sources'; readonly pcs: readonly string[] }
  | { readonly type: 'problem'; readonly message: string }
  /** The browser took the memory of a canvas away, or gave it back. */
  | { readonly type: 'canvas'; readonly isLost: boolean };
