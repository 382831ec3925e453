/** The schema of a trace that comes from a log of instructions: one core of the `cpu` protocol, and what such logs have besides. */

import { UscopeError } from '../../base/errors.js';
import type { DutProperties, Schema } from '../../format/types.js';
import { CPU, fieldsOf } from '../../protocols/index.js';
import { parsePeriod, SchemaBuilder } from '../../schema/index.js';
import { NO_STAGE_LABEL } from '../../semantics/cpu/index.js';
import {
  addCpuEvents,
  addProperties,
  CPU_EVENTS,
  cpuProperties,
  DEPENDENCY_TYPES,
  FLUSH_REASONS,
} from '../common/cpu-scope.js';
import type { FormatOption } from '../common/foreign-format.js';

// Options that the logs of instructions have in common.

export const PERIOD_OPTION: FormatOption = {
  name: 'period',
  help: 'clock period of the core: 1ns, 500ps, 2 GHz; default 1ns',
  direction: 'import',
};
export const CORE_OPTION: FormatOption = {
  name: 'core',
  help: 'name of the core in the trace; default core0',
  direction: 'import',
};

/** In ps. @throws UscopeError CONVERT_OPTION */
export function periodOption(options: ReadonlyMap<string, string>, byDefault = '1ns'): number {
  const text = options.get('period') ?? byDefault;
  const period = parsePeriod(text);
  if ('ps' in period && period.ps > 0) return period.ps;
  const problem = 'problem' in period ? period.problem : 'a period of 0 gives no cycles';
  throw new UscopeError('CONVERT_OPTION', `period=${text}: ${problem}`);
}

/** @throws UscopeError CONVERT_OPTION */
export function coreOption(options: ReadonlyMap<string, string>): string {
  const name = options.get('core') ?? 'core0';
  if (/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return name;
  throw new UscopeError(
    'CONVERT_OPTION',
    `core=${name}: a name has letters, digits, _ . and -, a letter or _ first`,
  );
}

/** What has to be known of a log before its first instruction is written. */
export interface PipelineShape {
  /** In pipeline order. */
  readonly stages: readonly string[];
  /** Stages of other lanes than the pipeline's, after those. */
  readonly laneStages?: readonly string[];
  /** Stages may end without a next one. */
  readonly endsStages?: boolean;
  /** Instructions in flight at a time, at most; those that end count until the time moves on. */
  readonly slots: number;
  readonly maxThread: number;
  readonly periodPs: number;
  /** Names of the cores' scopes, at least one. */
  readonly cores: readonly string[];
  /** Whether the log has what only the Kanata form knows (see `docs/reference/formats/konata.md`): lanes, explicit ends, retire numbers, kinds of labels. */
  readonly isKanata: boolean;
  /** Counters of the scope `stats`, by name. */
  readonly counters?: readonly string[];
  readonly dut: readonly (readonly [string, string])[];
}

/** Logs do not say why they flush. */
export const UNKNOWN_FLUSH = 'pipeline_clear';

/** DUT property with the stages' names as the log has them, as a JSON list: labels of a schema are not so free. */
export const STAGE_NAMES = 'log.stages';

/** DUT property: the format of the log that a trace was made of. */
export const LOG_FORMAT = 'log.format';
/** Its value for Kanata. */
export const KANATA = 'kanata';
/** Scope of `counters`. */
export const COUNTERS_SCOPE = 'stats';
/** Stages of a log, at most: the one for "in no stage" has a value, too. */
export const MAX_STAGES = 255;

/** Names that a schema can hold, all different. @throws UscopeError CONVERT_UNSUPPORTED for more than 255 */
function stageLabels(names: readonly string[]): string[] {
  if (names.length > MAX_STAGES) {
    throw new UscopeError(
      'CONVERT_UNSUPPORTED',
      `the log has ${names.length} different stages; ${MAX_STAGES} are the most`,
    );
  }
  const labels = new Set([NO_STAGE_LABEL]);
  for (const name of names) {
    const base = /^[A-Za-z_]/.test(name) ? name : `_${name}`;
    const clean = base.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 60);
    let label = clean;
    for (let n = 2; labels.has(label); n++) label = `${clean}_${n}`;
    labels.add(label);
  }
  labels.delete(NO_STAGE_LABEL);
  // Of an empty log: an enum needs a label.
  return labels.size > 0 ? [...labels] : [NO_STAGE_LABEL];
}

/** @throws UscopeError SCHEMA_* for names that a schema cannot hold */
export function pipelineSchema(shape: PipelineShape): { schema: Schema; dut: DutProperties } {
  const { cores } = shape;
  const stages = stageLabels([...shape.stages, ...(shape.laneStages ?? [])]);
  const builder = new SchemaBuilder().clock('clk', shape.periodPs).dut('dut_name', cores[0]);
  const names = [STAGE_NAMES, JSON.stringify(shape.stages)] as const;
  addProperties(builder, [...cpuProperties(stages), names, ...shape.dut]);
  builder
    .enum('pipeline_stage', shape.endsStages ? [...stages, NO_STAGE_LABEL] : stages)
    .enum('flush_reason', FLUSH_REASONS)
    .enum('dep_type', DEPENDENCY_TYPES);
  for (const core of cores) addCore(builder, core, shape);
  if (shape.counters) {
    const scope = builder.scope(COUNTERS_SCOPE, { clock: 'clk' });
    for (const name of shape.counters) scope.counter(name);
  }
  return builder.build();
}

function addCore(builder: SchemaBuilder, core: string, shape: PipelineShape): void {
  const { isKanata } = shape;
  const thread = shape.maxThread > 0xffff ? 'u32' : 'u16';
  const scope = builder
    .scope(core, { protocol: 'cpu', clock: 'clk' })
    .storage('entities', {
      slots: Math.max(shape.slots, 1),
      kind: 'sparse',
      fields: {
        ...fieldsOf(CPU.storages.entities, ['entity_id', 'pc', 'inst_bits', 'thread_id', 'gid']),
        thread_id: thread,
        ...(isKanata ? fieldsOf(CPU.storages.entities, ['log_id']) : {}),
      },
    })
    .counter('committed_insns');
  addCpuEvents(scope, ['stage_transition']);
  const { annotate, dependency, retire, lane_start, lane_end, late_dependency } = CPU.events;
  scope.event('annotate', isKanata ? fieldsOf(annotate) : CPU_EVENTS.annotate);
  scope.event('dependency', isKanata ? fieldsOf(dependency) : CPU_EVENTS.dependency);
  addCpuEvents(scope, ['flush']);
  if (isKanata) {
    scope
      .event('retire', fieldsOf(retire))
      .event('lane_start', fieldsOf(lane_start))
      .event('lane_end', fieldsOf(lane_end))
      .event('late_dependency', fieldsOf(late_dependency));
  } else addCpuEvents(scope, ['mem_load', 'mem_store']);
}
