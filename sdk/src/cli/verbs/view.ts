/** `uscope view`: the pipeline as a picture, in a browser. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { exportPage } from '../view/export.js';
import { type PictureOptions, parsePicture, pictureOfTrace } from '../view/picture.js';
import { type ViewSeveralRequest, viewSeveral } from '../view/view-several.js';
import { viewTrace } from '../view/view-trace.js';

interface ViewOptions extends PictureOptions {
  readonly png?: string;
  readonly port?: string;
  readonly open: boolean;
  readonly at?: string;
  readonly export?: string;
  readonly cache: boolean;
  readonly from?: string;
  readonly readOnly?: boolean;
  readonly elf?: string;
  readonly source?: string[];
  readonly token: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Serves the viewer and one trace, two runs beside each other, several traces on one time axis, or the traces of a directory as they appear, on the loopback, prints the address and opens a browser if there is one. Files of other formats are converted first. Ctrl-C ends it.',
    )
    .argument(
      '[files...]',
      'trace file or URL, two of them to compare, more of them on one time axis, or a directory of traces',
    )
    .option('--port <n>', 'port of the server; by default one that is free')
    .option('--no-open', 'open no browser')
    .option('--at <cycle>', 'show this cycle first')
    .option('--core <name>', 'which core; by default the first')
    .option('--elf <program>', 'the program that ran, for functions, lines of source and what they cost')
    .option(
      '--source <dir>',
      'with --elf: also show lines of files below this directory; can be repeated',
      (dir: string, dirs: string[] = []) => [...dirs, dir],
    )
    .option('--export <dir>', 'write the viewer as static files instead, with the trace if one is given')
    .option('--png <out>', 'write a picture instead, without a window; a name that ends in .svg makes an SVG')
    .option('--cycles <a:b>', 'cycles a to b (exclusive) for the picture; by default the whole run')
    .option('--size <WxH>', 'size of the picture in pixels; by default 1280x720')
    .option('--theme <name>', 'theme of the picture: light (default) or dark')
    .option('--form <name>', 'form of the picture: auto (default), classic, folded, straight, strip')
    .option('--force', 'with --png and --export: replace files that are there already')
    .option('--read-only', 'the page controls nothing, and asks nothing in SQL')
    .option('--no-token', 'let every user of this machine look; the page is read-only')
    .option('--from <format>', 'format of a file in another format (default: by its content)')
    .option('--no-cache', 'keep no trace converted from another format, and use none kept before')
    .action(async (files: string[], options: ViewOptions) => {
      const [file] = files;
      if (options.source && options.elf === undefined)
        throw new UscopeError('CLI_USAGE', '--source is for the lines of a program: add --elf PROGRAM');
      if (files.length > 1) return viewSeveral(severalOf(files, options));
      if (options.export !== undefined)
        return exportPage(options.export, {
          file,
          elf: options.elf,
          force: options.force,
          from: options.from,
        });
      if (file === undefined)
        throw new UscopeError('CLI_USAGE', 'view needs a trace file, a URL or a directory, or --export');
      if (options.png !== undefined)
        return pictureOfTrace(file, options.png, parsePicture(options.png, options), {
          keeps: options.cache,
          from: options.from,
        });
      refusePictureOptions(options);
      const hash = hashOf(options);
      const port = numberOption('--port', options.port, 65_535) ?? 0;
      const isReadOnly = options.readOnly === true;
      const { elf = null, source: sources = [], open: wantsBrowser, cache: keeps, from } = options;
      const isShared = !options.token;
      await viewTrace({ file, port, hash, wantsBrowser, keeps, from, isReadOnly, isShared, elf, sources });
    });
}

/** @throws UscopeError CLI_USAGE */
function severalOf(files: readonly string[], options: ViewOptions): ViewSeveralRequest {
  for (const name of ['export', 'png', 'at', 'core', 'readOnly'] as const)
    if (options[name] !== undefined)
      throw new UscopeError('CLI_USAGE', `--${name === 'readOnly' ? 'read-only' : name} is for one trace`);
  refusePictureOptions(options);
  const port = numberOption('--port', options.port, 65_535) ?? 0;
  const { elf, source: sources = [], open: wantsBrowser, cache: keeps, from } = options;
  return { files, elf, sources, port, wantsBrowser, isShared: !options.token, keeps, from };
}

/** @throws UscopeError CLI_USAGE */
function refusePictureOptions(options: ViewOptions): void {
  const name = (['cycles', 'size', 'theme', 'form'] as const).find((one) => options[one] !== undefined);
  if (name) throw new UscopeError('CLI_USAGE', `--${name} is for pictures: add --png OUT, or use --at CYCLE`);
}

function hashOf({ at, core }: ViewOptions): string {
  const cycle = numberOption('--at', at, Number.MAX_SAFE_INTEGER);
  const parts = [
    cycle === undefined ? null : `at=${cycle}`,
    core === undefined ? null : `core=${encodeURIComponent(core)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : `#${parts.join('&')}`;
}

/** @throws UscopeError CLI_USAGE */
function numberOption(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,16}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UscopeError('CLI_USAGE', `${name} "${text}" is not a number from 0 to ${max}`);
}
