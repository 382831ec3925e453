/** The `cpu` protocol as importers record it: properties, enums and events, once for all of them. */
import type { SchemaBuilder, ScopeBuilder } from '../../schema/index.js';

export const FLUSH_REASONS = ['mispredict', 'exception', 'interrupt', 'pipeline_clear'];
export const DEPENDENCY_TYPES = ['raw', 'war', 'waw', 'structural'];
export const PRIVILEGES = { user: 0, supervisor: 1, reserved: 2, machine: 3 };

export const CPU_EVENTS = {
  stage_transition: { entity_id: 'u32', stage: 'pipeline_stage' },
  annotate: { entity_id: 'u32', text: 'string' },
  dependency: { src_id: 'u32', dst_id: 'u32', dep_type: 'dep_type' },
  flush: { entity_id: 'u32', reason: 'flush_reason' },
  trap: { entity_id: 'u32', cause: 'u64', tval: 'u64', target: 'u64' },
  interrupt: { entity_id: 'u32', epc: 'u64', target: 'u64' },
  reg_write: { entity_id: 'u32', index: 'u8', value: 'u64' },
  freg_write: { entity_id: 'u32', index: 'u8', value: 'u64' },
  csr_write: { entity_id: 'u32', number: 'u16', name: 'string', value: 'u64' },
  mem_write: { entity_id: 'u32', addr: 'u64', mask: 'u8', data: 'u64' },
  mem_load: { entity_id: 'u32', addr: 'u64' },
  mem_store: { entity_id: 'u32', addr: 'u64' },
} as const;

/** Properties of a trace of cores. */
export function cpuProperties(stages: readonly string[], isa?: string): [key: string, value: string][] {
  return [
    ['cpu.protocol_version', '0.1'],
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
