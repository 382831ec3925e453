/** The schema of a trace that comes from a log of instructions: one core of the `cpu` protocol, and what such logs have besides. */
import { UscopeError } from '../../base/errors.js';
import type { DutProperties, Schema } from '../../format/types.js';
import { SchemaBuilder } from '../../schema/index.js';
import { NO_STAGE_LABEL } from '../../semantics/cpu/index.js';

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

export const FLUSH_REASONS = ['mispredict', 'exception', 'interrupt', 'pipeline_clear'];
export const DEPENDENCY_TYPES = ['raw', 'war', 'waw', 'structural'];
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
  const builder = new SchemaBuilder()
    .clock('clk', shape.periodPs)
    .dut('dut_name', cores[0])
    .dut('cpu.protocol_version', '0.1')
    .dut('cpu.pipeline_stages', stages.join(','))
    .dut(STAGE_NAMES, JSON.stringify(shape.stages));
  for (const [key, value] of shape.dut) builder.dut(key, value);
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
        entity_id: 'u32',
        pc: 'u64',
        inst_bits: 'u32',
        thread_id: thread,
        gid: 'u64',
        ...(isKanata ? { log_id: 'u64' } : {}),
      },
    })
    .counter('committed_insns')
    .event('stage_transition', { entity_id: 'u32', stage: 'pipeline_stage' })
    .event('annotate', { entity_id: 'u32', text: 'string', ...(isKanata ? { kind: 'u8' } : {}) })
    .event('dependency', {
      src_id: 'u32',
      dst_id: 'u32',
      dep_type: 'dep_type',
      ...(isKanata ? { type: 'u32' } : {}),
    })
    .event('flush', { entity_id: 'u32', reason: 'flush_reason' });
  if (isKanata) {
    scope
      .event('retire', { entity_id: 'u32', rid: 'u64', type: 'u32' })
      .event('lane_start', { entity_id: 'u32', lane: 'u16', stage: 'string' })
      .event('lane_end', { entity_id: 'u32', lane: 'u16', stage: 'string' })
      .event('late_dependency', { consumer: 'u64', producer: 'u64', type: 'u32' });
  } else {
    scope
      .event('mem_load', { entity_id: 'u32', addr: 'u64' })
      .event('mem_store', { entity_id: 'u32', addr: 'u64' });
  }
}
