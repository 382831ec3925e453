/** What a picture without a page is made of. */
import type { Trace } from '../data/library.js';
import type { Problem } from '../data/protocol.js';
import type { FormChoice } from '../drawing/settings.js';
import type { ThemeName } from '../model/palette.js';

/** What is written beside instructions, by hexadecimal address. */
export type Notes = (pcs: readonly string[]) => Promise<readonly (readonly [string, string])[]>;

export interface PictureRequest {
  readonly trace: Trace;
  readonly name: string;
  readonly kind: 'png' | 'svg';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly theme: ThemeName;
  readonly form: FormChoice;
  /** Width of the labels, pixels; by default that of the page. */
  readonly gutter?: number | undefined;
  /** null: the first. */
  readonly core: string | null;
  /** Cycles of the axis that fill the width, the last one exclusive; null: the whole run. */
  readonly cycles: { readonly from: number; readonly to: number } | null;
  /** null: there is no program. */
  readonly notes: Notes | null;
  readonly signal?: AbortSignal | undefined;
}

export interface DrawnPicture {
  /** PNG, or an SVG in UTF-8. */
  readonly bytes: Uint8Array;
  /** What of the trace could not be read: it is missing in the picture. */
  readonly problems: readonly Problem[];
}
