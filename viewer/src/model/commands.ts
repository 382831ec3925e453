/** What the user can do to the picture. The drawing worker carries it out, since it knows where the instructions are. */
import type { View, ZoomAxis } from './view.js';

export type Command =
  /** Rows down; following: sideways by as much as the pipeline moves there. */
  | { readonly do: 'rows'; readonly count: number; readonly follow: boolean }
  | { readonly do: 'cycles'; readonly count: number }
  /** The number of cycles that this part of the plot's width holds. */
  | { readonly do: 'widths'; readonly count: number }
  /** Pixels, as the pointer drags the picture. */
  | { readonly do: 'drag'; readonly dx: number; readonly dy: number }
  /** @param at pixel of the canvas; null: the pointer if it is over the plot, else the middle */
  | {
      readonly do: 'zoom';
      readonly factor: number;
      readonly at: { readonly x: number; readonly y: number } | null;
      readonly axis: ZoomAxis;
    }
  | { readonly do: 'zoomDefault' }
  | { readonly do: 'fit' }
  /** From now on all of it is these cycles too, `to` exclusive: others are shown with this trace, at the same scale. */
  | { readonly do: 'within'; readonly from: number; readonly to: number }
  | { readonly do: 'first' }
  | { readonly do: 'last' }
  /** As `last`, and again each time a trace that is being written has grown. */
  | { readonly do: 'follow' }
  /** The rows to where the time shown is. */
  | { readonly do: 'return' }
  | { readonly do: 'select'; readonly row: number | null }
  /** The instruction at a pixel of the canvas. @param align its fetch to the left edge */
  | {
      readonly do: 'selectAt';
      readonly at: { readonly x: number; readonly y: number };
      readonly align: boolean;
    }
  | { readonly do: 'selectNext'; readonly count: number }
  /** The instruction that the selected one waited for last; the first that waited for it. */
  | { readonly do: 'producer' }
  | { readonly do: 'consumer' }
  /** The fetch of a row to the left edge. */
  | { readonly do: 'align'; readonly row: number }
  | { readonly do: 'goRow'; readonly row: number }
  | { readonly do: 'goCycle'; readonly cycle: number }
  /** Selects a row and brings it into sight. */
  | { readonly do: 'reveal'; readonly row: number }
  /** Selects the instruction that has an id in a cycle: where rows have no numbers in the trace. */
  | { readonly do: 'selectId'; readonly id: number; readonly cycle: number }
  | { readonly do: 'view'; readonly view: View; readonly selected: number | null };
