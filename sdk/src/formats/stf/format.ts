/** STF under the interface of foreign formats. */

import { appendAll } from '../../base/arrays.js';
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
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { containerOf, decompressed } from './container.js';
import type { StfCursor } from './cursor.js';
import { EXPORT_OPTIONS, exportOptions, instructionsToStf } from './from-instructions.js';
import { hasRecords, recordsToStf } from './from-records.js';
import { listRecord, pcOf, quoted } from './listing.js';
import { StfFile } from './reader.js';
import { decodeRecord } from './records.js';
import { stfToUscope } from './to-uscope.js';
import {
  GENERATORS,
  IEM_NAMES,
  ISA_NAMES,
  MAGIC,
  StfFeature,
  type StfRecord,
  StfType,
  TYPE_NAMES,
} from './types.js';

const NAMES = {
  plain: 'plain',
  gzip: 'gzip',
  xz: 'xz',
  zstd: 'zstd',
  zstf: 'zstf, chunked zstd',
};

const FEATURE_BITS = Object.keys(StfFeature).length;

export const FORMAT: ForeignFormat = {
  name: 'stf',
  title: 'STF (Simulation Trace Format), RISC-V instruction and bus transaction traces',
  extensions: ['.stf', '.zstf'],
  options: EXPORT_OPTIONS,
  sniff,
  open: async (source) => StfTrace.open(source),
  async write(trace, files, extension, context) {
    const options = exportOptions(context.options, extension);
    const isRecords = options.content === 'records' || (options.content === null && hasRecords(trace));
    if (!isRecords) return instructionsToStf(trace, files, options, context);
    if (!hasRecords(trace)) {
      throw new UscopeError('CONVERT_SOURCE', 'the trace was not made of STF: it holds no STF records');
    }
    return recordsToStf(trace, files, options.writer, context);
  },
};

/** Of gzip the beginning is unpacked; xz is taken for STF, which alone comes in it; zstd without chunks is not distinguished from other formats. */
async function sniff(head: Uint8Array): Promise<boolean> {
  const container = containerOf(head);
  if (container === null || container === 'plain' || container === 'zstf') return container !== null;
  try {
    for await (const start of decompressed(container, only(head)))
      return MAGIC.every((byte, index) => start[index] === byte);
  } catch {
    // Too little of it to unpack, or damaged.
  }
  return false;
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

class StfTrace extends MaybeCut implements ForeignTrace {
  private constructor(
    private readonly file: StfFile,
    readonly description: string,
    readonly timeUnit: string,
  ) {
    super();
  }

  static async open(source: Source): Promise<StfTrace> {
    const file = await StfFile.open(source);
    const cursor = await file.readHeader(() => undefined);
    const { header } = cursor;
    const version = header.major ? `${header.major}.${header.minor}` : 'without header';
    const unit = header.isTransactions ? 'transactions' : 'instructions';
    return new StfTrace(file, `STF ${version} (${NAMES[file.container]})`, unit);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const counts = new Map<number, bigint>();
    const header: (readonly [string, string])[] = [];
    let markers = 0;
    let firstPc: bigint | null = null;
    for await (const cursor of this.pass(context)) {
      if (firstPc === null && cursor.isMarker && cursor.type !== StfType.TRANSACTION) firstPc = pcOf(cursor);
      counts.set(cursor.type, (counts.get(cursor.type) ?? 0n) + 1n);
      if (!cursor.isBody || cursor.type === StfType.END_HEADER)
        appendAll(header, headerRow(decodeRecord(cursor)));
      markers = cursor.markers;
    }
    const { index } = this.file;
    const content: (readonly [string, string])[] = [[this.timeUnit, String(markers)]];
    if (firstPc !== null) content.push(['first pc', `0x${firstPc.toString(16)}`]);
    if (index)
      content.push(['chunks', `${index.chunks.length} of ${index.markersPerChunk} ${this.timeUnit} at most`]);
    if (this.isPartial) content.push(['cut', 'the file ends early']);
    const records = [...counts].sort(([a], [b]) => a - b);
    return [
      { title: 'header', rows: header },
      { title: 'content', rows: content },
      {
        title: 'records',
        rows: records.map(([type, count]) => [TYPE_NAMES.get(type)!, String(count)] as const),
      },
    ];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    for await (const cursor of this.pass()) yield json ? toJson(cursor) : listRecord(cursor);
  }

  /** Records of the body, each at the index of its instruction. */
  async *events(): AsyncGenerator<ForeignEvent> {
    for await (const cursor of this.pass()) {
      if (!cursor.isBody || cursor.type === StfType.END_HEADER) continue;
      const time = BigInt(cursor.markers - (cursor.isMarker ? 1 : 0));
      yield { time, type: TYPE_NAMES.get(cursor.type)!, fields: fieldsOf(cursor) };
    }
  }

  async stats(context: ConversionContext): Promise<readonly InfoSection[]> {
    const counts = new Map<string, bigint>();
    const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0n) + 1n);
    for await (const { type, isMarker, view, at } of this.pass(context)) {
      if (isMarker) add(this.timeUnit);
      if (type === StfType.INST_OPCODE16) add('compressed instructions');
      else if (type === StfType.INST_PC_TARGET) add('jumps and taken branches');
      else if (type === StfType.EVENT_PC_TARGET) add('traps and returns');
      else if (type === StfType.INST_MEM_ACCESS)
        add(view.getUint8(at + 13) === 1 ? 'memory reads' : 'memory writes');
    }
    return [{ title: 'stream', rows: [...counts].map(([name, count]) => [name, String(count)] as const) }];
  }

  async toUscope(target: TraceTarget, context: ConversionContext): Promise<TraceStats> {
    return this.noteImport(await stfToUscope(this.file, target, context));
  }

  /** Every record; a cut ends it and is noted. */
  private async *pass(context?: ConversionContext): AsyncGenerator<StfCursor> {
    const stream = await this.file.stream();
    try {
      while (await stream.more()) {
        context?.signal?.throwIfAborted();
        while (stream.next()) yield stream.cursor;
        context?.onProgress?.(stream.part);
      }
    } catch (error) {
      this.noteCut(error, context);
    } finally {
      await stream.close();
    }
  }
}

function headerRow(record: StfRecord): (readonly [string, string])[] {
  switch (record.type) {
    case StfType.VERSION:
      return [['version', `${record.major}.${record.minor}`]];
    case StfType.ISA:
      return [['isa', ISA_NAMES[record.isa] || String(record.isa)]];
    case StfType.INST_IEM:
      return [['encoding', IEM_NAMES[record.iem] || String(record.iem)]];
    case StfType.TRACE_INFO: {
      const name = GENERATORS.get(record.generator) ?? `generator ${record.generator}`;
      return [['written by', `${name} ${record.version.join('.')} ${quoted(record.text)}`]];
    }
    case StfType.TRACE_INFO_FEATURE:
      return [['features', featureNames(record.features)]];
    case StfType.VLEN_CONFIG:
      return [['vector bits', String(record.vlen)]];
    case StfType.ISA_EXTENDED:
      return [['isa extended', quoted(record.text)]];
    case StfType.COMMENT:
      return [['comment', quoted(record.text)]];
    case StfType.PROTOCOL_ID:
      return [['protocol', record.protocol === 1 ? 'TileLink' : String(record.protocol)]];
    case StfType.CLOCK_ID:
      return [['clock', `${record.clock} ${quoted(record.text)}`]];
    case StfType.PROCESS_ID_EXT:
      return [['process', `${record.process}, thread ${record.thread}, hardware thread ${record.hwThread}`]];
    default:
      return [];
  }
}

function featureNames(features: bigint): string {
  const names = Object.entries(StfFeature)
    .filter(([, bit]) => ((features >> BigInt(bit)) & 1n) === 1n)
    .map(([name]) => name);
  const unknown = features >> BigInt(FEATURE_BITS);
  if (unknown) names.push(`0x${(unknown << BigInt(FEATURE_BITS)).toString(16)}`);
  return names.join(', ') || 'none';
}

/** Fields that are plain values; lists are joined, text is decoded. */
function fieldsOf(cursor: StfCursor): ForeignEvent['fields'] {
  const { type: _, ...record } = decodeRecord(cursor);
  const fields = Object.entries(record).map(([name, value]) => [name, plain(value)] as const);
  const isInstruction = cursor.isMarker && cursor.type !== StfType.TRANSACTION;
  return isInstruction ? [['pc', pcOf(cursor)], ...fields] : fields;
}

function plain(value: unknown): string | bigint | number {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (!Array.isArray(value)) return String(value);
  return value
    .map((item) => (typeof item === 'object' ? Object.values(item).join(':') : String(item)))
    .join(' ');
}

/** Bytes that are text become text, other bytes hex digits; 64-bit values decimal strings. */
function toJson(cursor: StfCursor): string {
  const { type, ...record } = decodeRecord(cursor);
  const isInstruction = cursor.isMarker && type !== StfType.TRANSACTION;
  const pc = isInstruction ? { pc: pcOf(cursor) } : {};
  const line = { offset: cursor.streamOffset, type: TYPE_NAMES.get(type), ...pc, ...record };
  return JSON.stringify(line, (key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (!(value instanceof Uint8Array)) return value;
    return key === 'text' ? new TextDecoder().decode(value) : toHex(value);
  });
}
