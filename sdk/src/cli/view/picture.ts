/** `uscope view --png OUT`: a picture of a trace, without a window. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { openTraceFile } from '../../reader/node.js';
import {
  openServedTrace,
  PICTURE_FORMS,
  ServedProgram,
  serveView,
  takePicture,
  type ViewServer,
} from '../../view/index.js';
import { io } from '../common/io.js';
import { parseCycles } from '../common/ranges.js';
import { Conversion } from './conversion.js';
import { foreignFormatOf } from './foreign-format.js';

export interface PictureOptions {
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

/** Of the labels of a picture, pixels: there is room for function and line beside the disassembly. */
const GUTTER_WITH_PROGRAM = 560;

interface Asked {
  readonly hash: string;
  readonly elf: string | null;
  readonly kind: 'png' | 'svg';
  readonly width: number;
  readonly height: number;
}

/** Checked before anything is opened. @throws UscopeError CLI_USAGE */
export function parsePicture(out: string, options: PictureOptions): Asked {
  return {
    kind: /\.svg$/i.test(out) ? 'svg' : 'png',
    ...parseSize(options.size),
    hash: `#${hashOf(options)}`,
    elf: options.elf ?? null,
  };
}

/** @throws UscopeError VIEW_NO_BROWSER, VIEW_PICTURE, READER_*, FORMAT_*, CONVERT_* */
export async function pictureOfTrace(file: string, out: string, asked: Asked, keeps: boolean): Promise<void> {
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const format = await foreignFormatOf(file);
    const picture =
      format === null
        ? await ofTrace(file, asked, interruption.signal)
        : await ofConversion(new Conversion(file, format, basename(file), keeps), asked, interruption.signal);
    await writeFile(out, picture);
    io.out(`${out}\n`);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function ofTrace(file: string, asked: Asked, signal: AbortSignal): Promise<Buffer> {
  const trace = await openServedTrace(file);
  try {
    // What is no trace is reported here rather than in the page.
    await (await openTraceFile(file)).close();
    const server = await serveView(trace, await programOf(asked));
    try {
      return await ofPage(server, asked, signal);
    } finally {
      await server.close();
    }
  } finally {
    await trace.close();
  }
}

async function ofConversion(conversion: Conversion, asked: Asked, signal: AbortSignal): Promise<Buffer> {
  const server = await serveView(conversion, await programOf(asked));
  try {
    await conversion.run(signal);
    return await ofPage(server, asked, signal);
  } finally {
    await server.close();
    await conversion.close();
  }
}

const programOf = async ({ elf }: Asked): Promise<{ program: ServedProgram | null }> => ({
  program: elf === null ? null : await ServedProgram.open(elf),
});

function ofPage(
  { url }: ViewServer,
  { hash, elf: _, ...asked }: Asked,
  signal: AbortSignal,
): Promise<Buffer> {
  return takePicture({ ...asked, url: `${url}?picture${hash}`, signal });
}

function hashOf({ cycles, theme, form, core, elf }: PictureOptions): string {
  const parts = ['v=1', 'panels=dock.off', `theme=${choice('--theme', theme, THEMES) ?? THEMES[0]}`];
  const chosen = choice('--form', form, PICTURE_FORMS);
  if (chosen) parts.push(`form=${chosen}`);
  if (elf !== undefined) parts.push(`gutter=${GUTTER_WITH_PROGRAM}`);
  if (core !== undefined) parts.push(`core=${encodeURIComponent(core)}`);
  if (cycles !== undefined) {
    const { from, to, clock } = parseCycles(cycles);
    if (clock !== null || to === null)
      throw new UscopeError(
        'CLI_USAGE',
        `--cycles "${cycles}" needs a first and a last cycle of the core: 100:200`,
      );
    parts.push(`cycles=${from}-${to - 1n}`);
  }
  return parts.join('&');
}

function parseSize(text: string | undefined): { width: number; height: number } {
  if (text === undefined) return DEFAULT_SIZE;
  const [, width = 0, height = 0] = (/^(\d{1,5})x(\d{1,5})$/i.exec(text) ?? []).map(Number);
  const isFine = [width, height].every((pixels) => pixels >= MIN_PIXELS && pixels <= MAX_PIXELS);
  if (isFine) return { width, height };
  throw new UscopeError(
    'CLI_USAGE',
    `--size "${text}" is not WIDTHxHEIGHT with ${MIN_PIXELS} to ${MAX_PIXELS} pixels each: 1280x720`,
  );
}

function choice(name: string, text: string | undefined, choices: readonly string[]): string | undefined {
  if (text === undefined || choices.includes(text)) return text;
  throw new UscopeError('CLI_USAGE', `${name} "${text}" is not one of ${choices.join(', ')}`);
}
