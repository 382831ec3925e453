/** The values of stats.txt as counters of the trace, each dump at its tick. */
import { Action, type Schema } from '../../format/types.js';
import type { PipelineFrames } from '../pipeline/frames.js';
import { COUNTERS_SCOPE } from '../pipeline/shape.js';
import type { StatsDump, StatsFile } from './stats-file.js';

const MAX_NAME = 60;

/** Names that a schema can hold, all different, by those of the file. */
export function counterNames({ names }: StatsFile): Map<string, string> {
  const taken = new Set<string>();
  const found = new Map<string, string>();
  for (const name of names) {
    const clean = name.replace(/::/g, '.').replace(/[^A-Za-z0-9_.-]/g, '_');
    const base = clean.length > MAX_NAME ? clean.slice(-MAX_NAME).replace(/^[^A-Za-z_]+/, '') || '_' : clean;
    let label = base;
    for (let n = 2; taken.has(label); n++) label = `${base}_${n}`;
    taken.add(label);
    found.set(name, label);
  }
  return found;
}

export class StatsCounters {
  private readonly storages: ReadonlyMap<string, number>;
  private readonly last = new Map<string, bigint>();
  private at = 0;
  /** Values written. */
  values = 0;

  constructor(
    private readonly stats: StatsFile,
    private readonly frames: PipelineFrames,
    { scopes, storages }: Schema,
  ) {
    const scopeId = scopes.find(({ name }) => name === COUNTERS_SCOPE)?.scopeId;
    const ids = new Map(
      storages.filter((one) => one.scopeId === scopeId).map(({ name, storageId }) => [name, storageId]),
    );
    this.storages = new Map([...counterNames(stats)].map(([name, label]) => [name, ids.get(label)!]));
  }

  /** Dumps before `tick`, which the log has reached. */
  before(tick: number): void {
    const { dumps } = this.stats;
    while (this.at < dumps.length && dumps[this.at].tick < tick) this.write(dumps[this.at++]);
  }

  finish(): void {
    this.before(Number.POSITIVE_INFINITY);
  }

  private write({ tick, values }: StatsDump): void {
    this.frames.moveTo(tick);
    for (const [name, value] of values) {
      const before = this.last.get(name) ?? 0n;
      this.values++;
      if (value === before) continue;
      const storage = this.storages.get(name)!;
      // Statistics that were reset begin anew.
      if (value > before) this.frames.op(Action.ADD, storage, 0, 0, value - before);
      else this.frames.op(Action.SET, storage, 0, 0, value);
      this.last.set(name, value);
    }
  }
}
