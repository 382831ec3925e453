/** How the picture is drawn, as the user chose. */
import type { ColourMode, ThemeName } from '../model/palette.js';

/** Pictures: one row per instruction, or sums over time. */
export const FORM_NAMES = ['classic', 'strip'] as const;
export type FormName = (typeof FORM_NAMES)[number];
/** By zoom, or always the same. */
export const FORMS = ['auto', ...FORM_NAMES] as const;
export type FormChoice = (typeof FORMS)[number];
export const SQUASHED = ['dim', 'show', 'blank'] as const;
export type Squashed = (typeof SQUASHED)[number];
export const ARROWS = ['selected', 'all', 'off'] as const;
export type Arrows = (typeof ARROWS)[number];

export interface Settings {
  readonly theme: ThemeName;
  readonly colour: ColourMode;
  readonly form: FormChoice;
  readonly squashed: Squashed;
  readonly arrows: Arrows;
  /** Width of the labels at the left, CSS pixels. */
  readonly gutter: number;
}

export const DEFAULT_SETTINGS: Settings = {
  theme: 'dark',
  colour: 'stage',
  form: 'auto',
  squashed: 'dim',
  arrows: 'selected',
  gutter: 360,
};

/** Height of the axis, CSS pixels. */
export const AXIS_HEIGHT = 40;
/** Rows thinner than this are too thin for boxes: sums are shown instead. */
export const MIN_CLASSIC_HEIGHT = 1.5;
/** Rows at least this high have text. */
export const MIN_TEXT_HEIGHT = 9;
/** Rows at least this high have boxes with borders. */
export const MIN_BOX_HEIGHT = 3;
/** Of rows thinner than text, one step of the wheel moves by this many pixels. */
export const THIN_STEP_PIXELS = 20;
