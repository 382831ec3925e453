/** What a browser has and the code that draws needs, in a program without one: a canvas of the caller's, and the parts of the page's scripts. */
import * as indexMaking from 'uscope/trace-index';
import * as noc from '../data/noc.js';
import * as questions from '../data/questions/on-demand.js';
import * as forms from '../drawing/forms/on-demand.js';
import * as svg from '../drawing/svg/on-demand.js';

export type HeadlessCanvas = Pick<OffscreenCanvas, 'width' | 'height'> & {
  getContext(kind: '2d', options?: { readonly alpha: boolean }): OffscreenCanvasRenderingContext2D;
  encode(kind: 'png'): Promise<Uint8Array>;
  toDataURL(type: 'image/png'): string;
};

/** Of a package such as `@napi-rs/canvas`. */
export interface CanvasPackage {
  createCanvas(width: number, height: number): HeadlessCanvas;
  readonly ImageData: unknown;
}

/** For all of the program: rasters are made of the package's own class, which its canvases take. */
export function surroundWith({ ImageData }: CanvasPackage): void {
  Object.assign(globalThis, {
    ImageData,
    requestAnimationFrame: (draw: () => void) => setTimeout(draw),
    // By the names of `model/load.ts`.
    uscope_index_making: indexMaking,
    uscope_noc: noc,
    uscope_questions: questions,
    uscope_forms: forms,
    uscope_svg: svg,
  });
}
