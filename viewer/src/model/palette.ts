/**
 * Colours. Fills are bright enough for black text on them in both themes, and neighbours differ in lightness, so that people who see few
 * colours can distinguish them.
 */

import { FLUSH_COLOURS, REASON_COLOURS } from '../../../sdk/src/base/colours.js';

export { reasonPlace } from '../../../sdk/src/base/colours.js';

export type ThemeName = 'dark' | 'light';
/** Colours of boxes: many, fewer that differ more, and some that differ by lightness alone. */
export const PALETTES = ['many', 'strong', 'lightness'] as const;
export type PaletteName = (typeof PALETTES)[number];
/** What the colour of a box says. */
export const COLOUR_MODES = ['stage', 'class', 'thread', 'stall'] as const;
export type ColourMode = (typeof COLOUR_MODES)[number];

/** CSS colours, `#rrggbb`. */
export interface Theme {
  readonly background: string;
  readonly stripe: string;
  readonly grid: string;
  readonly gridStrong: string;
  readonly gutter: string;
  readonly text: string;
  readonly dim: string;
  readonly accent: string;
  readonly selection: string;
  readonly flush: string;
  readonly inBox: string;
  readonly pending: string;
  /** Of stages, classes and threads, in this order, again from the start when there are more. */
  readonly fills: readonly string[];
  /** Of stall reasons. */
  readonly reasons: readonly string[];
  /** Boxes that have no colour in the mode chosen. */
  readonly plain: string;
  readonly ipc: string;
  /** Dependencies, drawn over boxes and background. */
  readonly arrow: string;
  /** What the user marked, on the axis and above the picture. */
  readonly cursor: string;
  readonly bookmark: string;
}

/** After Paul Tol's light scheme. */
const MANY = [
  '#77aadd',
  '#99ddff',
  '#44bb99',
  '#d5dd7a',
  '#ee9a6a',
  '#ffb3c6',
  '#b39ddb',
  '#c8a165',
  '#9fc5a0',
  '#f2d16b',
  '#8fb8b8',
  '#e0a3e0',
] as const;

/** After Okabe and Ito, light enough for text. */
const STRONG = [
  '#cc79a7',
  '#f0e442',
  '#19a881',
  '#e69f00',
  '#56b4e9',
  '#d97e4d',
  '#559bd9',
  '#a8a8a8',
] as const;

/** Neighbours are far apart in lightness: without any colour they still differ. */
const LIGHTNESS = ['#c1e7b0', '#26a3b8', '#fff491', '#00b5c2', '#e0f0c8', '#55cfc0'] as const;

const FILLS: Readonly<Record<PaletteName, readonly string[]>> = {
  many: MANY,
  strong: STRONG,
  lightness: LIGHTNESS,
};
/** Boxes on a dark background are a little darker. */
const DARKENED = 0.14;

export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  dark: {
    background: '#14171c',
    stripe: '#181c22',
    grid: '#20252d',
    gridStrong: '#2d343f',
    gutter: '#191d24',
    text: '#d9dee7',
    dim: '#8a93a3',
    accent: '#62aefc',
    selection: '#263a56',
    flush: FLUSH_COLOURS.dark,
    inBox: '#10131a',
    pending: '#1f242d',
    fills: MANY.map((colour) => mix(colour, '#14171c', DARKENED)),
    reasons: REASON_COLOURS,
    plain: '#6d7686',
    ipc: '#62aefc',
    arrow: '#ffffff',
    cursor: '#f2c14e',
    bookmark: '#7bd88f',
  },
  light: {
    background: '#ffffff',
    stripe: '#f7f8fa',
    grid: '#edf0f4',
    gridStrong: '#d9dee6',
    gutter: '#f3f5f8',
    text: '#1b222d',
    dim: '#5f6b7c',
    accent: '#1668c7',
    selection: '#d6e6fa',
    flush: FLUSH_COLOURS.light,
    inBox: '#10131a',
    pending: '#eef1f5',
    fills: MANY,
    reasons: REASON_COLOURS,
    plain: '#b3bac6',
    ipc: '#1668c7',
    arrow: '#22304a',
    cursor: '#8a5a00',
    bookmark: '#1f7a3a',
  },
};

type Rgb = readonly [number, number, number];

export function rgbOf(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function hex(rgb: readonly number[]): string {
  return `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** `part` of the second colour in the first. */
export function mix(colour: string, other: string, part: number): string {
  const [a, b] = [rgbOf(colour), rgbOf(other)];
  return hex(a.map((value, index) => value + (b[index]! - value) * part));
}

/** As a pixel of ImageData on machines of little-endian byte order, which all that run browsers are. */
export function pixelOf(colour: string): number {
  const [r, g, b] = rgbOf(colour);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Relative luminance, 0 to 1 (WCAG 2). */
function luminance(colour: string): number {
  const [r, g, b] = rgbOf(colour).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast of two colours, 1 to 21 (WCAG 2). */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

export const fillOf = (theme: Theme, index: number): string => theme.fills[index % theme.fills.length]!;
/** @param order of stages that have the first colours; the place of any other stage is its own */
export function stageColour(
  theme: Theme,
  stages: readonly string[],
  index: number,
  order: readonly string[],
): string {
  const place = order.indexOf(stages[index] ?? '');
  return fillOf(theme, place < 0 ? index : place);
}
export const reasonColour = (theme: Theme, index: number): string =>
  theme.reasons[index % theme.reasons.length]!;

/** A theme with the colours of boxes that the user chose. */
export function themeOf({
  theme,
  palette,
}: {
  readonly theme: ThemeName;
  readonly palette: PaletteName;
}): Theme {
  const chosen = THEMES[theme];
  if (palette === 'many') return chosen;
  const fills = FILLS[palette];
  if (theme === 'light') return { ...chosen, fills };
  return { ...chosen, fills: fills.map((colour) => mix(colour, chosen.background, DARKENED)) };
}
/** Between the colours of two lines: without a common factor with the size of any palette. */
const LINE_STRIDE = 7;

/** The same colours for thin lines: neighbours of another hue, and darker on a light background. */
export function lineOf(theme: Theme, index: number): string {
  const fill = fillOf(theme, index * LINE_STRIDE);
  return luminance(theme.background) > 0.5 ? mix(fill, '#000000', 0.35) : fill;
}
