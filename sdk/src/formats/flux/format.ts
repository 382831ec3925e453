/** flux under the interface of foreign formats. */

import { UscopeError } from '../../base/errors.js';
import { toHex } from '../../base/hex.js';
import type { Source } from '../../reader/index.js';
import type { TraceStats } from '../../writer/index.js';
import { MaybeCut } from '../common/cut.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignEvent,
  ForeignFormat,
  ForeignTrace,
  FormatOption,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import type { FluxCursor } from './cursor.js';
import { decodeEntry } from './entries.js';
import { entriesToFlux, hasEntries } from './from-entries.js';
import { EXPORT_OPTIONS, fluxOptions, traceToFlux } from './from-trace.js';
import { listEntry, memberTypeName, typeName } from './listing.js';
import { FluxFile, type FluxReadOptions, type FluxStream } from './reader.js';
import { fluxToUscope } from './to-uscope.js';
import { BLOCK_NAMES, CONFLICT, FluxTag, MAGIC, TAG_NAMES } from './types.js';
import { decodeValue, type FluxValue, memberValue } from './values.js';

const IMPORT_OPTIONS: readonly FormatOption[] = [
  {
    name: 'resync',
    help: 'yes: continue after damage at the next head, as in streams joined in the middle; default no',
    direction: 'import',
  },
];

export const FORMAT: ForeignFormat = {
  name: 'flux',
  title: 'flux traces (signals of every type, several cores in a file)',
  extensions: ['.flux'],
  options: [...IMPORT_OPTIONS, ...EXPORT_OPTIONS],
  sniff: (head) => MAGIC.every((byte, index) => head[index] === byte),
  open: async (source, options) => FluxForeignTrace.open(source, options),
  async write(trace, files, _extension, context) {
    const { content, ring, separate } = fluxOptions(context.options);
    const isEntries = content === 'entries' || (content === null && hasEntries(trace));
    if (!isEntries) return traceToFlux(trace, files, context);
    if (!hasEntries(trace)) {
      throw new UscopeError('CONVERT_SOURCE', 'the trace was not made of flux: it holds no flux entries');
    }
    if (ring !== null || separate) {
      const options = 'ring and files are for traces that were not made of flux, or with content=items';
      throw new UscopeError('CONVERT_OPTION', options);
    }
    return entriesToFlux(trace, files, context);
  },
};

type Row = readonly [key: string, value: string];

class FluxForeignTrace extends MaybeCut implements ForeignTrace {
  readonly timeUnit = 'domain units';

  private constructor(
    private readonly file: FluxFile,
    readonly description: string,
    private readonly isResync: boolean,
  ) {
    super();
  }

  static async open(source: Source, options: ReadonlyMap<string, string>): Promise<FluxForeignTrace> {
    const head = await source.read(0, MAGIC.length + 1);
    const version = head[MAGIC.length] ?? 0;
    const isResync = options.get('resync') === 'yes';
    return new FluxForeignTrace(new FluxFile(source), `flux ${version}`, isResync);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const traces: Row[] = [];
    const groups: Row[] = [];
    const counts = new Map<string, number>();
    const packing = new Set<string>();
    let signals = 0;
    for await (const { cursor } of this.pass(context)) {
      const { tag } = cursor;
      const name = TAG_NAMES.get(tag)!;
      if (tag !== FluxTag.RING) counts.set(name, (counts.get(name) ?? 0) + 1);
      if (tag === FluxTag.RING) packing.add('ring buffer');
      else if (tag === FluxTag.PBLK) packing.add(BLOCK_NAMES[cursor.numbers[0]] ?? 'unknown');
      else if (tag === FluxTag.SIGD || tag === FluxTag.SSGD) signals++;
      else if (tag === FluxTag.MSGD) signals += cursor.numbers[1] - cursor.numbers[0] + 1;
      else if (tag === FluxTag.HEAD && cursor.numbers[5] === 0) {
        traces.push([String(cursor.numbers[2]), `${cursor.text(3)} ${cursor.text(4)}`.trim()]);
      } else if (tag === FluxTag.OPEN) {
        const { id, domain } = cursor.group!;
        groups.push([
          `trace ${cursor.trace!.id}, item ${id}`,
          `${domain || 'no domain'} from ${cursor.sint(2)}`,
        ]);
      }
    }
    const content: Row[] = [['signals', String(signals)]];
    if (packing.size > 0) content.push(['packing', [...packing].join(', ')]);
    if (this.isPartial) content.push(['cut', 'the file ends early or is damaged']);
    return [
      { title: 'traces', rows: traces },
      { title: 'open groups', rows: groups },
      { title: 'content', rows: content },
      { title: 'entries', rows: [...counts].map(([name, count]) => [name, String(count)] as const) },
    ];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    for await (const { cursor, sectionOrder } of this.pass()) {
      yield json
        ? toJson(cursor, sectionOrder)
        : `${'  '.repeat(cursor.depth)}${listEntry(cursor, sectionOrder)}`;
    }
  }

  /** Samples at their position, in the domain of their group. */
  async *events(): AsyncGenerator<ForeignEvent> {
    const names = new Names();
    for await (const { cursor } of this.pass()) {
      const { tag, group, trace } = cursor;
      if (tag !== FluxTag.SAMPLE) {
        names.note(cursor);
        continue;
      }
      const conflict = cursor.flags & CONFLICT ? [['conflict', true] as const] : [];
      const domain = [['domain', group?.domain ?? ''] as const];
      yield {
        time: group?.position ?? 0n,
        type: names.of(trace!.id, cursor.id),
        fields: [['trace', trace!.id], ...valueFields(cursor), ...conflict, ...domain],
      };
    }
  }

  async stats(context: ConversionContext): Promise<readonly InfoSection[]> {
    const names = new Names();
    const counts = new Map<string, { count: number; bytes: number; type: string }>();
    for await (const { cursor } of this.pass(context)) {
      if (cursor.tag !== FluxTag.SAMPLE) {
        names.note(cursor);
        continue;
      }
      const key = names.of(cursor.trace!.id, cursor.id);
      const known = counts.get(key) ?? {
        count: 0,
        bytes: 0,
        type: typeName(cursor.trace!.typeOf(cursor.id)),
      };
      known.count++;
      known.bytes += cursor.size;
      counts.set(key, known);
    }
    const rows = [...counts].map(
      ([name, { count, bytes, type }]) => [name, `${count} values of ${type}, ${bytes} bytes`] as const,
    );
    return [{ title: 'signals', rows }];
  }

  async toUscope(target: TraceTarget, context: ConversionContext): Promise<TraceStats> {
    return this.noteImport(await fluxToUscope(this.file, target, context, this.readOptions(context)));
  }

  /** Every entry; a cut ends it and is noted. */
  private async *pass(context?: ConversionContext): AsyncGenerator<FluxStream> {
    const stream = await this.file.stream(this.readOptions(context));
    try {
      while (await stream.more()) {
        context?.signal?.throwIfAborted();
        while (stream.next()) yield stream;
        context?.onProgress?.(stream.part);
      }
    } catch (error) {
      this.noteCut(error, context);
    }
  }

  private readOptions(context?: ConversionContext): FluxReadOptions {
    if (!this.isResync) return {};
    return {
      onSkip: (from, to, reason) => {
        this.isPartial = true;
        context?.onWarning?.(`bytes ${from} to ${to} were passed over: ${reason.message}`);
      },
    };
  }
}

/** Paths of items: `scope/signal`, with the trace's name in front. */
class Names {
  private readonly known = new Map<string, readonly [parent: number, name: string]>();
  private readonly traces = new Map<number, string>();
  private readonly cache = new Map<string, string>();

  note(cursor: FluxCursor): void {
    const { tag, trace, numbers } = cursor;
    if (tag === FluxTag.HEAD) this.traces.set(numbers[2], cursor.text(3));
    else if (tag === FluxTag.SCPD || tag === FluxTag.SIGD || tag === FluxTag.SSGD) {
      this.known.set(`${trace!.id}:${numbers[0]}`, [numbers[1], cursor.text(2)]);
    } else return;
    this.cache.clear();
  }

  of(trace: number, id: number): string {
    const key = `${trace}:${id}`;
    let path = this.cache.get(key);
    if (path !== undefined) return path;
    const parts: string[] = [];
    let at: number | undefined = id;
    for (let steps = 0; at && steps < 100; steps++) {
      const item = this.known.get(`${trace}:${at}`);
      parts.unshift(item?.[1] || `item${at}`);
      at = item?.[0];
    }
    path = [this.traces.get(trace) || `trace${trace}`, ...parts].join('/');
    this.cache.set(key, path);
    return path;
  }
}

function valueFields({ trace, id, df, xdf, value }: FluxCursor): ForeignEvent['fields'] {
  let decoded: FluxValue;
  try {
    decoded = decodeValue(trace!.typeOf(id), df, xdf, value);
  } catch {
    return [['bytes', toHex(value)]];
  }
  switch (decoded.kind) {
    case 'none':
      return [];
    case 'logic':
      return [['value', decoded.states]];
    case 'binary':
      return [['value', toHex(decoded.value)]];
    case 'struct':
      return decoded.members.map((one) => {
        const shown = memberValue(one);
        return [`m${one.member}`, shown instanceof Uint8Array ? toHex(shown) : shown] as const;
      });
    case 'event':
    case 'integer':
    case 'float':
    case 'text':
      return [['value', decoded.value]];
    default:
      return [['value', decoded.values.join(' ')]];
  }
}

/** 64-bit values are decimal strings, bytes hex digits. */
function toJson(cursor: FluxCursor, order: readonly number[]): string {
  const { tag, offset } = cursor;
  const entry = decodeEntry(cursor);
  const line: Record<string, unknown> = { offset, ...entry, tag: TAG_NAMES.get(tag) };
  if (tag === FluxTag.RING) line.order = order;
  else if (cursor.trace) line.trace = cursor.trace.id;
  if (tag === FluxTag.SAMPLE) line.value = Object.fromEntries(valueFields(cursor));
  return JSON.stringify(line, (key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Uint8Array) return toHex(value);
    if (key === 'type' && tag === FluxTag.MEMD) return memberTypeName(value as number);
    return value;
  });
}
