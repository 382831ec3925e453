/** The `cpu` protocol as importers record it: properties, enums and events, once for all of them. */
import { CPU, fieldsOf } from '../../protocols/index.js';
import type { SchemaBuilder, ScopeBuilder } from '../../schema/index.js';

const { enums, events } = CPU;

export const FLUSH_REASONS = enums.flush_reason;
export const DEPENDENCY_TYPES = enums.dep_type;
export const PRIVILEGES = enums.privilege;

export const CPU_EVENTS = {
  stage_transition: fieldsOf(events.stage_transition),
  annotate: fieldsOf(events.annotate, ['entity_id', 'text']),
  dependency: fieldsOf(events.dependency, ['src_id', 'dst_id', 'dep_type']),
  flush: fieldsOf(events.flush),
  trap: fieldsOf(events.trap),
  interrupt: fieldsOf(events.interrupt, ['entity_id', 'epc', 'target']),
  reg_write: fieldsOf(events.reg_write),
  freg_write: fieldsOf(events.freg_write),
  csr_write: fieldsOf(events.csr_write),
  mem_write: fieldsOf(events.mem_write),
  mem_load: fieldsOf(events.mem_load),
  mem_store: fieldsOf(events.mem_store),
};

/** Properties of a trace of cores. */
export function cpuProperties(stages: readonly string[], isa?: string): [key: string, value: string][] {
  return [
    ['cpu.protocol_version', CPU.version],
    ...(isa === undefined ? [] : [['cpu.isa', isa] as [string, string]]),
    ['cpu.pipeline_stages', stages.join(',')],
  ];
}

export function addProperties(
  builder: SchemaBuilder,
  properties: readonly (readonly [string, string])[],
): void {
  for (const [key, value] of properties) builder.dut(key, value);
}

export function addCpuEvents(scope: ScopeBuilder, names: readonly (keyof typeof CPU_EVENTS)[]): void {
  for (const name of names) scope.event(name, CPU_EVENTS[name]);
}
