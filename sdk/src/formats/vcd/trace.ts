/** A VCD file that is open for reading. */
import { readFile } from 'node:fs/promises';
import { UscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignTrace,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { unpack } from '../text/unpack.js';
import { guessMap } from './guess/guess.js';
import { dumpChanges } from './read/dump.js';
import { nextPiece } from './read/followed.js';
import { HeaderCollector, type VcdHeader, type VcdSignal } from './read/header.js';
import { readMap } from './waves/map.js';
import { waveToUscope } from './waves/to-uscope.js';

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

  async *dump({ json, limit = Number.POSITIVE_INFINITY }: DumpOptions): AsyncGenerator<string> {
    const { header, pieces } = await this.begin();
    const { lines, isCut } = dumpChanges(header, pieces, json);
    let left = limit;
    for await (const line of lines) {
      if (left-- <= 0) return;
      yield line;
    }
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

  async close(): Promise<void> {
    await this.source.close?.();
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
