/** What a browser has and the code that draws needs, in a program without one: a canvas of the caller's. */

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
  });
}
