/** Perfetto, for the conversions. It is written, not read. */

import { type StorageDef, scopePath } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, findCore, findCores } from '../../semantics/cpu/index.js';
import type { ConversionContext, ForeignFormat, OutputFiles } from '../common/foreign-format.js';
import { choice } from '../common/options.js';
import { type StallTracks, type ToldElsewhere, writeCounters } from './counters.js';
import { writeSlices } from './slices.js';
import { type ChosenScale, timeScale } from './time-scale.js';
import { PerfettoWriter } from './writer.js';

export const FORMAT: ForeignFormat = {
  name: 'perfetto',
  title: 'Perfetto protobuf trace, for ui.perfetto.dev and trace_processor',
  extensions: ['.pftrace', '.perfetto-trace'],
  options: [
    {
      name: 'time',
      help: 'what a nanosecond of the timeline is: ns (real, rounded down), ps, or cycles; default ns where all clocks have whole ns, else ps',
      direction: 'export',
    },
    {
      name: 'cycle',
      help: 'with time=cycles: nanoseconds of the timeline per cycle; default 1',
      direction: 'export',
    },
    {
      name: 'counters',
      help: 'changes (default): a sample per change of a counter or buffer; none',
      direction: 'export',
    },
    { name: 'core', help: 'only this core', direction: 'export' },
  ],
  write: uscopeToPerfetto,
};

// µScope to Perfetto: a process per core, a track per stage, counters, flows.

/** After the stages: where the other tracks of a core are. */
const STALL_RANK = 1000;
const COUNTER_RANK = 2000;

/** @throws UscopeError CONVERT_OPTION, READER_NAME (option `core`), WRITER_EXISTS */
export async function uscopeToPerfetto(
  trace: Trace,
  files: OutputFiles,
  _extension: string,
  context: ConversionContext,
): Promise<void> {
  const { options, report } = context;
  const name = options.get('core');
  const cores = name === undefined ? findCores(trace) : [findCore(trace, name)];
  const scale = timeScale(trace, cores, options);
  if (!scale.isExact)
    report.approximated('times', 'rounded down to whole nanoseconds; time=ps keeps them').count++;
  const counters = choice(options, 'counters', ['changes', 'none']) ?? 'changes';
  const out = new Output(trace, new PerfettoWriter(await files.open(null)), scale);
  const parts = cores.length + (counters === 'none' ? 0 : 1);
  const progress =
    (index: number) =>
    (part: number): void =>
      context.onProgress?.((index + part) / parts);
  for (const [index, core] of cores.entries()) {
    if (core.entities)
      await writeSlices(trace, core, out.sliceTarget(core), { ...context, onProgress: progress(index) });
  }
  if (counters === 'changes') {
    const stalls = out.stallTracks(cores);
    await writeCounters(trace, out.counterTarget(), stalls, toldBySlices(cores), {
      ...context,
      onProgress: progress(cores.length),
    });
  }
  await out.writer.finish();
}

function toldBySlices(cores: readonly CpuCore[]): ToldElsewhere {
  return {
    storages: new Set(cores.flatMap(({ entities }) => (entities ? [entities.def.storageId] : []))),
    events: new Set(cores.flatMap(({ events }) => [...events.values()].map(({ def }) => def.eventTypeId))),
  };
}

/** Tracks with their own numbers. */
class Output {
  private nextUuid = 1;
  private flows = 0;
  private pids = 0;
  private readonly processes = new Map<string, number>();

  constructor(
    private readonly trace: Trace,
    readonly writer: PerfettoWriter,
    private readonly scale: ChosenScale,
  ) {}

  sliceTarget(core: CpuCore) {
    const parent = this.process(core.name);
    return {
      writer: this.writer,
      toNs: this.scale.toNs,
      track: (name: string, rank: number) => this.track(name, parent, rank),
      nextFlow: () => ++this.flows,
    };
  }

  counterTarget() {
    return {
      writer: this.writer,
      toNs: this.scale.toNs,
      counter: (storage: StorageDef, unit: string) => {
        const uuid = this.nextUuid++;
        const parent = this.process(scopePath(this.trace.schema, storage.scopeId) || 'trace');
        const rank = COUNTER_RANK + storage.storageId;
        this.writer.counterTrack({ uuid, name: storage.name, parent, rank }, unit);
        return uuid;
      },
    };
  }

  stallTracks(cores: readonly CpuCore[]): StallTracks {
    return new Map(
      cores.flatMap((core) => {
        const event = core.events.get('stall');
        if (!event || event.fields.has('entity_id')) return [];
        return [
          [
            event.def.eventTypeId,
            { event, track: this.track('stalls', this.process(core.name), STALL_RANK) },
          ],
        ];
      }),
    );
  }

  private track(name: string, parent: number, rank: number): number {
    const uuid = this.nextUuid++;
    this.writer.track({ uuid, name, parent, rank });
    return uuid;
  }

  private process(name: string): number {
    const known = this.processes.get(name);
    if (known !== undefined) return known;
    const uuid = this.nextUuid++;
    this.processes.set(name, uuid);
    const unit = this.scale.meaning === '1 ns' ? '' : ` (1 ns = ${this.scale.meaning})`;
    this.writer.process({ uuid, name: `${name}${unit}` }, ++this.pids);
    return uuid;
  }
}
