/** How the picture is drawn, as the user chose. */
import type { ColourMode, PaletteName, ThemeName } from '../model/palette.js';

/**
 * Pictures. Classic: one row per instruction, time at the x axis. Folded: row numbers modulo the rows on the screen. Straight: cycles since
 * fetch at the x axis. Strip: sums over time.
 */
const FORM_NAMES = ['classic', 'folded', 'straight', 'strip'] as const;
export type FormName = (typeof FORM_NAMES)[number];
/** By zoom, or always the same. */
export const FORMS = ['auto', ...FORM_NAMES] as const;
export type FormChoice = (typeof FORMS)[number];
/** Blank: an empty row. Collapse: no row. */
export const SQUASHED = ['dim', 'show', 'blank', 'collapse'] as const;
type Squashed = (typeof SQUASHED)[number];
/** Order of rows in the straight form. */
export const SORTS = ['fetch', 'latency', 'pc', 'class'] as const;
export type Sort = (typeof SORTS)[number];
export const ARROWS = ['selected', 'all', 'off'] as const;
type Arrows = (typeof ARROWS)[number];

export interface Settings {
  readonly theme: ThemeName;
  readonly colour: ColourMode;
  readonly palette: PaletteName;
  readonly form: FormChoice;
  readonly squashed: Squashed;
  readonly sort: Sort;
  readonly arrows: Arrows;
  /** Width of the labels at the left, CSS pixels. */
  readonly gutter: number;
  /** Stages in the order of their colours, which pictures next to each other share; without it each core has its own order. */
  readonly stages: readonly string[];
}

export const DEFAULT_SETTINGS: Settings = {
  theme: 'dark',
  colour: 'stage',
  palette: 'many',
  form: 'auto',
  squashed: 'dim',
  sort: 'fetch',
  arrows: 'selected',
  gutter: 360,
  stages: [],
};

/** Height of the axis, CSS pixels. */
export const AXIS_HEIGHT = 40;
/** Narrower cycles are too narrow for instructions, CSS pixels: sums are shown instead. */
export const MIN_ROWS_SCALE = 0.25;
/** Rows at least this high have text. */
export const MIN_TEXT_HEIGHT = 9;
/** Rows at least this high have boxes with borders; thinner ones are folded. */
export const MIN_BOX_HEIGHT = 3;
/** Of rows thinner than text, one step of the wheel moves by this many pixels. */
export const THIN_STEP_PIXELS = 20;
