/** VCD, for the conversions: waveforms are read by a map, and traces are written as waveforms. */

import { readFile } from 'node:fs/promises';
import { UscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignFormat,
  ForeignTrace,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { sniffText, unpack } from '../text/unpack.js';
import { uscopeToVcd, VCD_EXPORT_OPTIONS } from './from-uscope.js';
import { guessMap } from './guess/guess.js';
import { dumpChanges } from './read/dump.js';
import { HeaderCollector, type VcdHeader, type VcdSignal } from './read/header.js';
import { nextPiece } from './read/signal-store.js';
import { readMap } from './waves/map.js';
import { waveToUscope } from './waves/to-uscope.js';

/** The mark of UTF-8 may come first. */
const BEGINNING = /^(\u00ef\u00bb\u00bf)?\s*\$(date|version|timescale|comment|scope|var)\s/;

export const FORMAT: ForeignFormat = {
  name: 'vcd',
  title: 'Value Change Dump, for waveform viewers',
  extensions: ['.vcd', '.vcd.gz'],
  options: [
    {
      name: 'map',
      help: 'file that says which signals become what; --map FILE is the same',
      direction: 'import',
    },
    {
      name: 'unit',
      help: 'what a unit of time is, whatever $timescale says: 1ns',
      direction: 'import',
    },
    ...VCD_EXPORT_OPTIONS,
  ],
  sniff: async (head) => BEGINNING.test(await sniffText(head)),
  open: async (source, options) => new VcdTrace(source, options.get('unit')),
  write: uscopeToVcd,
};

// A VCD file that is open for reading.

/** The definitions, and the bytes after them. */
interface Opened {
  readonly header: VcdHeader;
  readonly pieces: AsyncIterator<Uint8Array>;
}

export class VcdTrace implements ForeignTrace {
  readonly description = 'VCD, a waveform';
  readonly timeUnit = 'units of $timescale';
  isPartial = false;

  /** @param unit of time, instead of that of the file: `1ns` */
  constructor(
    private readonly source: Source,
    private readonly unit?: string,
  ) {}

  async info(): Promise<readonly InfoSection[]> {
    const { header } = await this.begin();
    const { signals, timescale, writer } = header;
    const codes = new Set(signals.map(({ code }) => code));
    return [
      {
        title: 'waveform',
        rows: [
          ['written by', writer || 'unknown'],
          ['timescale', timescale],
          ['variables', String(signals.length)],
          ['different signals', String(codes.size)],
        ],
      },
      {
        title: 'signals',
        rows: signals.map(
          ({ path, kind, width }) => [path, width === 1 ? kind : `${kind} of ${width} bits`] as const,
        ),
      },
    ];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    const { header, pieces } = await this.begin();
    const { lines, isCut } = dumpChanges(header, pieces, json);
    yield* lines;
    this.isPartial = isCut();
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const { header, pieces } = await this.begin(context);
    const { map, file } = await this.map(header, context);
    const plan = (signals: readonly VcdSignal[]) => readMap(map, file, signals);
    const { stats, cut } = await waveToUscope(header, plan, pieces, target, context);
    if (cut !== null) {
      this.isPartial = true;
      context.onWarning?.(cut);
    }
    return stats;
  }

  /** A map for this waveform, as text. @throws UscopeError CONVERT_SOURCE when there is no clock */
  async guess(): Promise<string> {
    const { header, pieces } = await this.begin();
    return guessMap(header, pieces);
  }

  /** @throws UscopeError CONVERT_OPTION, READER_OPEN */
  private async map(
    header: VcdHeader,
    { options }: ConversionContext,
  ): Promise<{ map: string; file: string }> {
    const path = options.get('map');
    if (path === undefined) {
      throw new UscopeError(
        'CONVERT_OPTION',
        `a waveform has ${header.signals.length} signals, and nothing in it says which of them are storages, counters or events: give a map (--map FILE). \`uscope convert WAVE --guess\` proposes one`,
      );
    }
    try {
      return { map: await readFile(path, 'utf8'), file: path };
    } catch (cause) {
      throw new UscopeError(
        'READER_OPEN',
        `the map cannot be read: ${(cause as Error).message}`,
        { file: path },
        { cause },
      );
    }
  }

  /** Reads the definitions. @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED, CONVERT_LIMIT */
  private async begin(context?: ConversionContext): Promise<Opened> {
    const size = await this.source.size();
    const pieces = unpack(this.source, (bytes) => context?.onProgress?.(bytes / size));
    const collector = new HeaderCollector(this.unit);
    for (let piece = await nextPiece(pieces); piece instanceof Uint8Array; piece = await nextPiece(pieces)) {
      const found = collector.add(piece);
      if (found) return { header: found.header, pieces: withFirst(found.rest, pieces) };
    }
    const { header, rest } = collector.end();
    return { header, pieces: withFirst(rest, pieces) };
  }
}

async function* withFirst(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
