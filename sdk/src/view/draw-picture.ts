/** A picture of a trace: the page's drawing code, bundled for Node, on a canvas of an optional package that is loaded when it is needed. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isUscopeError, UscopeError } from '../base/errors.js';
import type { Trace } from '../reader/index.js';

type CanvasPackage = typeof import('@napi-rs/canvas');

/** Forms of the page, for pictures of it. */
export const PICTURE_FORMS = ['auto', 'classic', 'folded', 'straight', 'strip'] as const;

export interface Picture {
  /** PNG, or an SVG in UTF-8. */
  readonly bytes: Uint8Array;
  /** What of the trace could not be read: it is missing in the picture. */
  readonly problems: readonly { readonly code: string; readonly what: string }[];
}

export interface PictureRequest {
  readonly trace: Trace;
  readonly name: string;
  readonly kind: 'png' | 'svg';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
  readonly form: string;
  /** Width of the labels, pixels; absent: that of the page. */
  readonly gutter?: number | undefined;
  /** null: the first. */
  readonly core: string | null;
  /** Cycles of the core, the last one exclusive; null: the whole run. */
  readonly cycles: { readonly from: number; readonly to: number } | null;
  readonly program: Annotator | null;
  readonly signal?: AbortSignal | undefined;
}

/** Of the program that ran. */
export interface Annotator {
  /** What is written beside instructions at these addresses; empty: nothing. */
  notesOf(addresses: readonly bigint[]): Promise<string[]>;
}

/** Of viewer/src/headless/main.ts, as far as it is used here. */
interface Drawing {
  drawPicture(request: object, canvas: CanvasPackage): Promise<Picture>;
}

/** From `sdk/dist/view` and from `sdk/src/view`, where tests run. */
const DRAWING = fileURLToPath(new URL('../../dist/viewer/node/draw.js', import.meta.url));

/**
 * @throws UscopeError ENV_MISSING where the viewer has not been built; VIEW_PICTURE: the drawing failed; codes of the reader
 * @throws Error of Node, ERR_MODULE_NOT_FOUND: there is no canvas
 */
export async function drawPicture({ program, ...request }: PictureRequest): Promise<Picture> {
  const canvas = await loadCanvas();
  const { drawPicture: draw } = await loadDrawing();
  const notes = program && (async (pcs: readonly string[]) => notesOf(program, pcs));
  try {
    return await draw({ ...request, notes }, canvas);
  } catch (error) {
    if (isUscopeError(error)) throw error;
    const what = request.signal?.aborted ? 'interrupted' : (error as Error).message;
    throw new UscopeError('VIEW_PICTURE', what, {}, { cause: error });
  }
}

/**
 * @throws Error of Node, ERR_MODULE_NOT_FOUND: it is not installed
 * @throws UscopeError VIEW_PICTURE: it does not run on this machine, or the machine has no font
 */
async function loadCanvas(): Promise<CanvasPackage> {
  const loaded = await import('@napi-rs/canvas').catch((cause: Error & { code?: string }) => {
    if (cause.code === 'ERR_MODULE_NOT_FOUND') throw cause;
    const what = `the package @napi-rs/canvas does not run on this machine: ${cause.message.split('\n', 1)[0]}`;
    throw new UscopeError(
      'VIEW_PICTURE',
      `${what}; install it again, without --omit=optional: npm install @napi-rs/canvas@1`,
      {},
      { cause },
    );
  });
  // Text would silently be left out.
  if (loaded.GlobalFonts.families.length === 0)
    throw new UscopeError(
      'VIEW_PICTURE',
      'this machine has no font to draw text with; install one (Debian: apt-get install fonts-dejavu-core)',
    );
  return loaded;
}

async function loadDrawing(): Promise<Drawing> {
  try {
    return (await import(pathToFileURL(DRAWING).href)) as Drawing;
  } catch (cause) {
    throw new UscopeError(
      'ENV_MISSING',
      'the code that draws pictures is not built; in a clone of the repository run: npm run build',
      { file: DRAWING },
      { cause },
    );
  }
}

async function notesOf(program: Annotator, pcs: readonly string[]): Promise<(readonly [string, string])[]> {
  const texts = await program.notesOf(pcs.map((pc) => BigInt(`0x${pc}`)));
  return pcs.map((pc, index) => [pc, texts[index]!] as const);
}
