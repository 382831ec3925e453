/** Kanata, for the conversions: a log as a foreign trace, and logs of the cores of a trace. */

import { UscopeError } from '../../base/errors.js';
import { CursorItem } from '../../format/frame.js';
import type { Source, Trace } from '../../reader/index.js';
import { type CpuCore, findCore, findCores, requireEntities } from '../../semantics/cpu/index.js';
import type { Xlen } from '../../semantics/cpu/riscv/encodings.js';
import { ItemStream } from '../../stream/item-stream.js';
import { MaybeCut } from '../common/cut.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignEvent,
  ForeignFormat,
  ForeignTrace,
  InfoSection,
  OutputFiles,
  TraceTarget,
} from '../common/foreign-format.js';
import { choice } from '../common/options.js';
import { eventsOf, shortStageNames } from '../pipeline/core-fields.js';
import { CORE_OPTION, KANATA, LOG_FORMAT, PERIOD_OPTION, STAGE_NAMES } from '../pipeline/shape.js';
import { UNKNOWN_OPTION } from '../text/lines.js';
import { packingOfExtension } from '../text/output.js';
import { packingOf, sniffText } from '../text/unpack.js';
import { type ExportSource, KanataExport } from './export-state.js';
import type { KanataRecord } from './line.js';
import type { PendingCommands, PendingTarget } from './pending.js';
import { KanataReader, type KanataSummary, summarize } from './reader.js';
import { CYCLE_AT_ZERO, kanataToUscope } from './to-uscope.js';
import { KanataWriter, type LineWriter, lineOf } from './writer.js';

class KanataTrace extends MaybeCut implements ForeignTrace {
  readonly timeUnit = 'cycles';
  private unknown: InfoSection['rows'][number] = ['lines not understood', '0'];

  private constructor(
    private readonly source: Source,
    readonly description: string,
  ) {
    super();
  }

  static async open(source: Source): Promise<KanataTrace> {
    const packing = packingOf(await source.read(0, 4));
    return new KanataTrace(source, `Kanata 0004${packing === 'plain' ? '' : ` (${packing})`}`);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const summary = await this.summarize(context);
    const { counts, firstCycle, lastCycle, otherLanes } = summary;
    const rows: InfoSection['rows'] = [
      ['cycles', firstCycle === null ? 'none' : `${firstCycle} to ${lastCycle}`],
      ['instructions', String(counts.begin)],
      ['retired', String(counts.retired)],
      ['flushed', String(counts.flushed)],
      ['unfinished', String(summary.unfinished)],
      ['in flight at a time', `${summary.maxInFlight} at most`],
      ['stages', summary.stages.join(' ')],
      ['lanes', [...(summary.stages.length > 0 ? [0] : []), ...otherLanes.keys()].join(' ')],
      ['threads', summary.threads.join(' ')],
      ['labels', String(counts.label)],
      ['dependencies', String(counts.dependency)],
      this.unknown,
    ];
    return [{ title: 'Kanata log', rows }];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    for await (const record of this.records()) {
      yield json ? JSON.stringify(record, bigAsText) : lineOf(record).trimEnd();
    }
  }

  async *events(): AsyncGenerator<ForeignEvent> {
    let time = 0n;
    for await (const record of this.records()) {
      const { kind, ...fields } = record;
      if (record.kind === 'advance') time += record.cycles;
      else if (record.kind === 'cycle') time = record.cycle;
      else if (record.kind !== 'unknown') yield { time, type: kind, fields: Object.entries(fields) };
    }
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const summary = await this.summarize(context);
    const size = await this.source.size();
    // The second pass is the longer one.
    const reader = new KanataReader(this.source, (bytes) => context.onProgress?.(0.3 + (0.7 * bytes) / size));
    return kanataToUscope(reader, summary, target, context);
  }

  private async summarize(context: ConversionContext): Promise<KanataSummary> {
    const { onProgress, onWarning, options, signal } = context;
    const size = await this.source.size();
    const reader = new KanataReader(this.source, (bytes) => onProgress?.((0.3 * bytes) / size));
    const summary = await summarize(reader, signal);
    reader.unknown.check(reader.understood, options);
    this.unknown = reader.unknown.info;
    this.isPartial = summary.cut !== null;
    if (summary.cut) onWarning?.(summary.cut.message);
    return summary;
  }

  /** Up to the cut, if there is one. */
  private async *records(): AsyncGenerator<KanataRecord> {
    try {
      for await (const { record } of new KanataReader(this.source).records()) yield record;
    } catch (error) {
      this.noteCut(error);
    }
  }
}

const bigAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Commands that wait for their strings. */
const BATCH = 8192;

/** @throws UscopeError CONVERT_SOURCE (no core, or one without instructions or cycles), READER_NAME (option `core`), WRITER_EXISTS */
async function uscopeToKanata(
  trace: Trace,
  files: OutputFiles,
  extension: string,
  context: ConversionContext,
): Promise<void> {
  const cores = coresToExport(trace, context.options.get('core'));
  const stageNames = choice(context.options, 'stage-names', ['short', 'full']) ?? 'short';
  for (const [index, core] of cores.entries()) {
    const file = await files.open(cores.length === 1 ? null : core.name.replaceAll('/', '.'));
    const writer = new KanataWriter(file, packingOfExtension(extension));
    const onProgress = (part: number): void => context.onProgress?.((index + part) / cores.length);
    await exportCore(trace, sourceOf(trace, core, stageNames), writer, { ...context, onProgress });
  }
}

/** Those that record instructions, or the one named. */
function coresToExport(trace: Trace, name: string | undefined): CpuCore[] {
  if (name !== undefined) return [findCore(trace, name)];
  const cores = findCores(trace).filter(({ entities }) => entities !== null);
  if (cores.length > 0) return cores;
  throw new UscopeError(
    'CONVERT_SOURCE',
    'the trace has no scope of the protocol "cpu" with a storage "entities"',
  );
}

function sourceOf(trace: Trace, core: CpuCore, names: StageNames): ExportSource {
  if (core.periodPs === 0n) {
    throw new UscopeError(
      'CONVERT_SOURCE',
      `the clock of ${core.name} has no period: there are no cycles to write`,
    );
  }
  return {
    core,
    entities: requireEntities(core),
    events: eventsOf(trace, core),
    ...stagesOf(trace, core, names),
    zero: BigInt(trace.dutProperty(CYCLE_AT_ZERO) ?? 0),
    periodPs: core.periodPs,
    isInterleaved: trace.isInterleaved,
  };
}

type StageNames = 'short' | 'full';

/** Konata gives a cycle a fixed width, so long names run into each other: they are shortened, with a legend. */
function stagesOf(
  trace: Trace,
  { stages }: CpuCore,
  names: StageNames,
): Pick<ExportSource, 'stageNames' | 'legend'> {
  const ofLog = stageNamesOf(trace);
  const isOfKanata = trace.dutProperty(LOG_FORMAT) === KANATA;
  if (isOfKanata || names === 'full') return { stageNames: ofLog, legend: null };
  const stageNames = shortStageNames(stages);
  const pairs = stages.flatMap((name, index) =>
    stageNames[index] === name ? [] : [`${stageNames[index]} ${name}`],
  );
  return { stageNames, legend: pairs.length > 0 ? `stages: ${pairs.join(', ')}` : null };
}

/** As the log had them; anything else than a list of names is nobody's. */
function stageNamesOf(trace: Trace): string[] {
  try {
    const names: unknown = JSON.parse(trace.dutProperty(STAGE_NAMES) ?? '[]');
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : [];
  } catch {
    return [];
  }
}

async function exportCore(
  trace: Trace,
  source: ExportSource,
  writer: KanataWriter,
  { report, onProgress, signal }: ConversionContext,
): Promise<void> {
  const state = new KanataExport(source, report);
  const out = new Emitter(trace, source, writer);
  await writer.drain();
  const stream = new ItemStream(trace);
  for (let isFirst = true; await stream.nextSegment(); isFirst = false) {
    signal?.throwIfAborted();
    const { index, header } = stream.segment;
    if (isFirst) {
      state.frame(header.timeStartPs);
      state.begin((await trace.stateBefore(index)).raw);
    }
    while (stream.next()) {
      const { cursor } = stream;
      if (cursor.kind === CursorItem.OP) state.op(cursor);
      else if (cursor.kind === CursorItem.EVENT) state.event(cursor);
      else {
        if (state.pending.length >= BATCH) await out.emit(state.pending);
        state.frame(cursor.timePs);
      }
    }
    onProgress?.(Math.min(1, stream.segmentsRead / Math.max(1, trace.segmentCount)));
  }
  state.settle();
  await out.emit(state.pending);
  out.advanceTo(source.zero + trace.totalTimePs / source.periodPs);
  report.kept('instructions in flight at the end').count += state.inFlight;
  await writer.end();
}

/** Puts the passing of cycles between the commands. */
class Emitter implements PendingTarget {
  readonly lines: LineWriter;
  readonly xlen: Xlen | null;
  private cycle: bigint | null = null;

  constructor(
    private readonly trace: Trace,
    { core }: ExportSource,
    private readonly writer: KanataWriter,
  ) {
    this.lines = writer.lines;
    this.xlen = core.xlen;
  }

  async emit(pending: PendingCommands): Promise<void> {
    await this.trace.strings.load(pending.strings);
    pending.writeTo(this);
    await this.writer.drain();
  }

  text(index: number): string {
    return this.trace.strings.peek(index) ?? `#${index}`;
  }

  advanceTo(cycle: bigint): void {
    if (this.cycle === null) this.lines.cycle(cycle);
    else if (cycle > this.cycle) this.lines.advance(cycle - this.cycle);
    if (this.cycle === null || cycle > this.cycle) this.cycle = cycle;
  }
}

export const FORMAT: ForeignFormat = {
  name: 'konata',
  title: 'Kanata 0004, the log of the Konata viewer',
  extensions: ['.kanata', '.kanata.gz', '.kanata.zst', '.konata', '.log'],
  options: [
    PERIOD_OPTION,
    UNKNOWN_OPTION,
    {
      ...CORE_OPTION,
      help: 'import: name of the core, default core0; export: only this core',
      direction: 'both',
    },
    {
      name: 'stage-names',
      help: 'short (default): one to three letters, with a legend in the first instruction; full: as in the trace',
      direction: 'export',
    },
  ],
  // Bytes are letters here: those of a byte order mark, too.
  sniff: async (head) => /^(\xef\xbb\xbf)?\s*Kanata\s+\d/.test(await sniffText(head)),
  open: (source) => KanataTrace.open(source),
  write: uscopeToKanata,
};
