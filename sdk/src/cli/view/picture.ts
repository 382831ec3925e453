/** `uscope view --png OUT`: a picture of a trace, by the page's drawing code, bundled for Node, on a canvas of an optional package. */
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { writeFileAtomically } from '../../writer/output/atomic-file.js';
import { foreignFormatOf } from '../common/foreign.js';
import { io } from '../common/io.js';
import { parseCycles } from '../common/ranges.js';
import { Conversion, type ConversionWishes } from './conversion.js';
import { ServedProgram } from './server/program.js';

export interface PictureOptions {
  /** Replace a picture that is there already. */
  readonly force?: boolean;
  readonly cycles?: string;
  readonly size?: string;
  readonly theme?: string;
  readonly form?: string;
  readonly core?: string;
  /** Path of the program's ELF file. */
  readonly elf?: string;
}

/** Forms of the page, for pictures of it. */
export const PICTURE_FORMS = ['auto', 'classic', 'folded', 'straight', 'strip'] as const;

const THEMES = ['light', 'dark'] as const;
const DEFAULT_SIZE = { width: 1280, height: 720 };
const MAX_PIXELS = 8192;
const MIN_PIXELS = 200;

/** Of the labels of a picture, pixels: there is room for function and line beside the disassembly, where the picture is wide. */
const GUTTER_WITH_PROGRAM = 560;
const gutterWithProgram = (width: number): number =>
  Math.min(GUTTER_WITH_PROGRAM, Math.max(360, Math.floor(width / 2)));

interface Asked {
  readonly kind: 'png' | 'svg';
  readonly width: number;
  readonly height: number;
  readonly theme: (typeof THEMES)[number];
  readonly form: (typeof PICTURE_FORMS)[number];
  readonly core: string | null;
  /** The last one is exclusive; null: the whole run. */
  readonly cycles: { readonly from: number; readonly to: number } | null;
  readonly elf: string | null;
  readonly force: boolean | undefined;
}

/** Checked before anything is opened. @throws UscopeError CLI_USAGE */
export function parsePicture(out: string, options: PictureOptions): Asked {
  return {
    kind: /\.svg$/i.test(out) ? 'svg' : 'png',
    ...parsePixels(options.size),
    theme: choice('--theme', options.theme, THEMES) ?? THEMES[0],
    form: choice('--form', options.form, PICTURE_FORMS) ?? PICTURE_FORMS[0],
    core: options.core ?? null,
    cycles: cyclesOf(options.cycles),
    elf: options.elf ?? null,
    force: options.force,
  };
}

/**
 * @throws UscopeError VIEW_PICTURE, READER_*, FORMAT_*, CONVERT_*, WRITER_*
 * @throws Error of Node, ERR_MODULE_NOT_FOUND: the package that draws is not installed
 */
export async function pictureOfTrace(
  file: string,
  out: string,
  asked: Asked,
  wishes: ConversionWishes,
): Promise<void> {
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const { signal } = interruption;
    const inputs = [file, ...(asked.elf === null ? [] : [asked.elf])];
    let problems: Picture['problems'] = [];
    const make = async (): Promise<Uint8Array> => {
      const picture = await pictureOf({ file, wishes, signal }, asked);
      ({ problems } = picture);
      return picture.bytes;
    };
    await writeFileAtomically(out, make, { inputs, force: asked.force, signal });
    for (const { code, what } of problems) io.err(`uscope: warning: ${code}: ${what}`);
    io.out(`${onOneLine(out)}\n`);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

interface Source {
  readonly file: string;
  readonly wishes: ConversionWishes;
  readonly signal: AbortSignal;
}

async function pictureOf({ file, wishes, signal }: Source, asked: Asked): Promise<Picture> {
  const { elf, force: _, ...picture } = asked;
  const conversion = await conversionOf(file, wishes);
  try {
    await conversion?.run(signal);
    const trace = await openTraceFile(conversion?.path ?? file);
    try {
      const program = elf === null ? null : await ServedProgram.open(elf);
      const gutter = program ? gutterWithProgram(asked.width) : undefined;
      return await drawPicture({ ...picture, trace, name: basename(file), gutter, program, signal });
    } finally {
      await trace.close();
    }
  } finally {
    await conversion?.close();
  }
}

/** null: the file needs none. */
async function conversionOf(file: string, { keeps, from }: ConversionWishes): Promise<Conversion | null> {
  const format = await foreignFormatOf(file, from);
  return format === null ? null : new Conversion(file, format, basename(file), keeps);
}

function cyclesOf(text: string | undefined): Asked['cycles'] {
  if (text === undefined) return null;
  const { from, to, clock } = parseCycles(text);
  if (clock !== null || to === null || to > Number.MAX_SAFE_INTEGER)
    throw new UscopeError(
      'CLI_USAGE',
      `--cycles "${text}" needs a first and a last cycle of the core: 100:200`,
    );
  return { from: Number(from), to: Number(to) };
}

function parsePixels(text: string | undefined): { width: number; height: number } {
  if (text === undefined) return DEFAULT_SIZE;
  const [, width = 0, height = 0] = (/^(\d{1,5})x(\d{1,5})$/i.exec(text) ?? []).map(Number);
  const isFine = [width, height].every((pixels) => pixels >= MIN_PIXELS && pixels <= MAX_PIXELS);
  if (isFine) return { width, height };
  throw new UscopeError(
    'CLI_USAGE',
    `--size "${text}" is not WIDTHxHEIGHT with ${MIN_PIXELS} to ${MAX_PIXELS} pixels each: 1280x720`,
  );
}

function choice<T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  const found = choices.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw new UscopeError('CLI_USAGE', `${name} "${text}" is not one of ${choices.join(', ')}`);
}

type CanvasPackage = typeof import('@napi-rs/canvas');

interface Picture {
  /** PNG, or an SVG in UTF-8. */
  readonly bytes: Uint8Array;
  /** What of the trace could not be read: it is missing in the picture. */
  readonly problems: readonly { readonly code: string; readonly what: string }[];
}

interface PictureRequest {
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

/** What is known of the program that ran. */
interface Annotator {
  /** What is written beside instructions at these addresses; empty: nothing. */
  notesOf(addresses: readonly bigint[]): Promise<string[]>;
}

/** The part of viewer/src/headless/main.ts that is used here. */
interface Drawing {
  drawPicture(request: object, canvas: CanvasPackage): Promise<Picture>;
}

/** The path is the same from `sdk/dist/cli/view` and from `sdk/src/cli/view`, where tests run. */
const DRAWING = fileURLToPath(new URL('../../../dist/viewer/node/draw.js', import.meta.url));

/**
 * @throws UscopeError ENV_MISSING where the viewer has not been built; VIEW_PICTURE: the drawing failed; codes of the reader
 * @throws Error of Node, ERR_MODULE_NOT_FOUND: there is no canvas
 */
async function drawPicture({ program, ...request }: PictureRequest): Promise<Picture> {
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
