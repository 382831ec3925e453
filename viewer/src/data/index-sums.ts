/** What the index says of one core, as the picture needs it. */

import type * as cpu from 'uscope/cpu';
import { ChannelKind, type ChannelName, type TraceIndex } from 'uscope/trace-index';
import { reasonPlace } from '../../../sdk/src/base/colours.js';
import { Column, columnsOf, reasonColumn, type SumsPart, type SumsShape } from '../model/sums.js';
import type { Diagonal, SumsRange } from './protocol.js';

/** Points of the diagonal. */
const DIAGONAL_POINTS = 4096;

export class IndexSums {
  private readonly core: number;

  private constructor(
    private readonly index: TraceIndex,
    private readonly shape: SumsShape,
    /** Of the stall reasons of the picture. */
    private readonly reasons: readonly string[],
    private readonly channels: Readonly<Record<'born' | 'occupancy', ChannelName>> & {
      readonly ofCore: readonly ChannelName[];
    },
    scopeId: number,
    private readonly periodPs: number,
    /** Instructions in flight when the trace begins: rows, but not births. */
    private readonly before: number,
  ) {
    this.core = index.plan.cores.findIndex(({ core }) => core.scopeId === scopeId);
  }

  /** null: the index does not count this core. */
  static of(
    index: TraceIndex,
    core: cpu.CpuCore,
    shape: SumsShape,
    reasons: readonly string[],
    before: number,
  ): IndexSums | null {
    const storage = core.entities?.def.storageId;
    const born = index.channels.find(({ kind, subject }) => kind === ChannelKind.BORN && subject === storage);
    const occupancy = index.channels.find(
      ({ kind, subject }) => kind === ChannelKind.OCCUPANCY && subject === storage,
    );
    if (!born || !occupancy) return null;
    const kinds = [ChannelKind.RETIRED, ChannelKind.SQUASHED, ChannelKind.FLUSHES, ChannelKind.STALLS];
    const ofCore = index.channels.filter(({ kind, name }) => kinds.includes(kind as 6) && name === core.name);
    const channels = { born, occupancy, ofCore };
    return new IndexSums(index, shape, reasons, channels, core.scopeId, Number(core.periodPs), before);
  }

  /** Exact sums over a range, in intervals that are not longer than asked for by more than a bucket of the index. */
  async sums({ from, to, intervals }: SumsRange, quick = false): Promise<SumsPart> {
    const { born, occupancy, ofCore } = this.channels;
    const range = { from: Math.floor(from), to: Math.ceil(to), intervals, quick };
    const series = await this.index.series([born, occupancy, ...ofCore], range);
    const { fromCycle, intervalCycles: step } = series;
    const columns: (Float64Array | null)[] = new Array(columnsOf(this.shape)).fill(null);
    for (const { channel, columns: found } of series.channels) {
      const values = found[0]!.values;
      if (channel.kind === ChannelKind.BORN) columns[Column.BORN] = values;
      else if (channel.kind === ChannelKind.OCCUPANCY)
        columns[Column.IN_FLIGHT] = await this.inFlight(values, fromCycle, step);
      else if (channel.kind === ChannelKind.RETIRED) columns[Column.RETIRED] = values;
      else if (channel.kind === ChannelKind.SQUASHED) columns[Column.SQUASHED] = values;
      else if (channel.kind === ChannelKind.FLUSHES) columns[Column.FLUSHES] = values;
      else this.addStalls(columns, found);
    }
    return { from: fromCycle, step, columns };
  }

  /** How many rows there are, and where they lie in time. */
  async diagonal(lastCycle: number): Promise<Diagonal> {
    const { fromCycle, intervalCycles, channels } = await this.index.series(this.channels.born, {
      intervals: DIAGONAL_POINTS,
    });
    const births = channels[0]!.columns[0]!.values;
    const cycles = new Float64Array(births.length + 1);
    const rows = new Float64Array(births.length + 1);
    [cycles[0], rows[0]] = [fromCycle, this.before];
    births.forEach((count, index) => {
      cycles[index + 1] = Math.min(lastCycle, fromCycle + (index + 1) * intervalCycles);
      rows[index + 1] = rows[index]! + count;
    });
    rows[0] = 0;
    return { cycles, rows };
  }

  /** Greatest number of instructions in flight at any time. */
  async mostInFlight(): Promise<number> {
    const { channels } = await this.index.series(this.channels.occupancy, { intervals: 1, quick: true });
    const most = channels[0]!.columns[2]!.values[0]!;
    return Number.isNaN(most) ? 0 : most;
  }

  /** Rows before a segment. */
  async rowsBefore(segment: number): Promise<number> {
    return segment === 0 ? 0 : this.before + (await this.index.birthsBefore(this.core, segment));
  }

  /** From means: the last interval may end after the trace. */
  private async inFlight(means: Float64Array, fromCycle: number, step: number): Promise<Float64Array> {
    const { fromPs, toPs } = await this.index.extent(
      this.index.groupOf(this.index.channel(this.channels.occupancy)).index,
    );
    return means.map((mean, interval) => {
      const start = (fromCycle + interval * step) * this.periodPs;
      const time = Math.min(start + step * this.periodPs, toPs) - Math.max(start, fromPs);
      return time > 0 ? (mean * time) / this.periodPs : 0;
    });
  }

  private addStalls(
    columns: (Float64Array | null)[],
    found: readonly { readonly name: string; readonly values: Float64Array }[],
  ): void {
    const { shape, reasons } = this;
    columns[Column.STALLED] = found[0]!.values;
    const labelled = found.length > 1 ? found.slice(1) : found;
    for (const { name, values } of labelled) {
      const column = reasonColumn(shape, reasonPlace(reasons, name));
      const sum = columns[column];
      columns[column] = sum ? sum.map((value, index) => value + values[index]!) : values;
    }
  }
}
