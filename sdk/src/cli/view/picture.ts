/** `uscope view --png OUT`: a picture of a trace, without a window. */

import { basename } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { openTraceFile } from '../../reader/node.js';
import { drawPicture, PICTURE_FORMS, type Picture, ServedProgram } from '../../view/index.js';
import { writeFileAtomically } from '../../writer/output/atomic-file.js';
import { foreignFormatOf } from '../common/foreign.js';
import { io } from '../common/io.js';
import { parseCycles } from '../common/ranges.js';
import { Conversion, type ConversionWishes } from './conversion.js';

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
