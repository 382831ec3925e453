/** The cores of a trace: scopes with the protocol `cpu`, and what of the conventions each of them follows. */
import { UscopeError } from '../../base/errors.js';
import { namesNear } from '../../base/near-names.js';
import {
  type ClockDef,
  type EnumDef,
  isCounterStorage,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
  scopePath,
} from '../../format/types.js';
import { CPU, isReadable, membersOf, ownFirst, unreadFields } from '../../protocols/index.js';
import {
  type Described,
  describeEvent,
  type ProtocolEvent,
  scopeProperty,
  stageLookup,
  stageNames,
} from '../common/describe.js';
import type { Xlen } from './riscv/encodings.js';
import { xlenOfIsa } from './riscv/isa.js';

export type { EventField } from '../common/describe.js';

export const CPU_PROTOCOL = CPU.protocol;

/** Label of a stage that `cpu.pipeline_stages` leaves out: an instruction that enters it is in no stage from then on. */
export const NO_STAGE_LABEL = 'none';
/** What `stageOf` says of it. */
export const NO_STAGE = -2;

/** An event of the conventions, with those of its fields that the trace has. */
export type CoreEvent = ProtocolEvent;

/** The catalog of instructions in flight. Field indices are -1 where the trace has no such field. */
export interface CoreEntities {
  readonly def: StorageDef;
  readonly idField: number;
  readonly pcField: number;
  readonly bitsField: number;
  readonly compressedField: number;
  readonly threadField: number;
}

type CpuEvents = typeof CPU.events;
/** Events that are part of what is known of an instruction. */
export type CoreEventName = {
  [Name in keyof CpuEvents]: CpuEvents[Name] extends { readonly isFollowed: true } ? Name : never;
}[keyof CpuEvents];

export interface CpuCore {
  /** Scope path without the root: `core0`, `soc/tile1/core0`; the scope's own name where the root itself is the core. */
  readonly name: string;
  readonly scopeId: number;
  readonly clock: ClockDef | undefined;
  /** Clock period in ps; 0n: unknown, there are no cycles. */
  readonly periodPs: bigint;
  /** DUT property `cpu.isa`, or the one of this core alone: `core0/cpu.isa`. */
  readonly isa: string | undefined;
  /** Register width of a RISC-V core; null for other instruction sets and unknown ones. */
  readonly xlen: Xlen | null;
  /** Stages in pipeline order; see `stageOf`. */
  readonly stages: readonly string[];
  readonly entities: CoreEntities | null;
  readonly events: ReadonlyMap<CoreEventName, CoreEvent>;
  /** ROB, queues: buffers whose slots name an entity. */
  readonly buffers: readonly StorageDef[];
  readonly counters: readonly StorageDef[];
  /** Index into `stages` of a value of the field `stage`; `NO_STAGE` for the one that means no stage; -1 for an unknown value. */
  stageOf(value: number): number;
}

const EVENT_NAMES = Object.entries(CPU.events)
  .filter(([, event]) => 'isFollowed' in event)
  .map(([name]) => name as CoreEventName);

/** Every core of a trace, in the order of the schema. */
export function findCores(trace: Described): CpuCore[] {
  const { schema } = trace;
  return schema.scopes
    .filter((scope) => scope.protocol === CPU_PROTOCOL)
    .map((scope) => describeCore(trace, scope.scopeId));
}

/**
 * The core of that name: its scope path, or the scope's own name where only one has it. Without a name the first core.
 * @throws UscopeError READER_NAME: no such core, or no core at all
 */
export function findCore(trace: Described, name?: string): CpuCore {
  const cores = findCores(trace);
  const [first] = cores;
  if (!first) {
    throw new UscopeError(
      'READER_NAME',
      `the trace has no core: none of its scopes has the protocol "${CPU_PROTOCOL}"`,
    );
  }
  if (name === undefined) return first;
  const exact = cores.find((core) => core.name === name);
  const matches = exact ? [exact] : cores.filter((core) => core.name.endsWith(`/${name}`));
  if (matches.length === 1 && matches[0]) return matches[0];
  const known = cores.map((core) => core.name);
  if (matches.length === 0)
    throw new UscopeError('READER_NAME', `the trace has no core "${name}"; ${namesNear(name, known)}`);
  throw new UscopeError(
    'READER_NAME',
    `"${name}" is the name of several cores; the trace has: ${known.join(', ')}`,
  );
}

/**
 * The cycle in which a time lies, counted from time 0.
 * @throws UscopeError READER_NO_CYCLES when the period of the core's clock is not known
 */
export function cycleOf(core: CpuCore, timePs: bigint): bigint {
  return timePs / requirePeriod(core);
}

/** @throws UscopeError READER_NO_CYCLES */
export function requirePeriod(core: Pick<CpuCore, 'name' | 'clock' | 'periodPs'>): bigint {
  if (core.periodPs > 0n) return core.periodPs;
  const clock = core.clock ? `clock "${core.clock.name}"` : 'its clock';
  throw new UscopeError(
    'READER_NO_CYCLES',
    `the period of ${clock} is not known, so ${core.name} has no cycles; ask in picoseconds`,
  );
}

/** @throws UscopeError READER_NAME when the core records no instructions */
export function requireEntities(core: CpuCore): CoreEntities {
  // Callers in JavaScript may give a name.
  if (typeof core !== 'object' || core === null) {
    throw new UscopeError('READER_NAME', `a core is what findCore(trace, name) gives, not ${String(core)}`);
  }
  if (core.entities) return core.entities;
  throw new UscopeError(
    'READER_NAME',
    `${core.name} has no storage "entities": the trace follows no instructions of it`,
  );
}

function describeCore(trace: Described, scopeId: number): CpuCore {
  const { schema } = trace;
  const inside = membersOf(schema, scopeId);
  const storages = ownFirst(schema.storages, inside, scopeId);
  const events = ownFirst(schema.events, inside, scopeId);
  const clock = trace.clockOf(scopeId);
  const path = scopePath(schema, scopeId);
  const isa = scopeProperty(trace, path, 'cpu.isa');
  const stageEvent = describeEvent(schema, events, 'stage_transition', CPU.events.stage_transition);
  const labels = stageEvent?.fields.get('stage')?.labels ?? null;
  const listed = scopeProperty(trace, path, 'cpu.pipeline_stages');
  const none = noStageOf(listed, labels);
  const ofStages = labels && { ...labels, values: labels.values.filter((label) => label !== none) };
  const stages = stageNames(listed, ofStages);
  const lookUp = stageLookup(stages, ofStages);
  const catalog = storages.find((storage) => storage.name === 'entities');
  return {
    name: path || (schema.scopes[scopeId]?.name ?? ''),
    scopeId,
    clock,
    periodPs: BigInt(clock?.periodPs ?? 0),
    isa,
    xlen: xlenOfIsa(isa),
    stages,
    entities: catalog ? describeEntities(catalog) : null,
    events: new Map(
      EVENT_NAMES.flatMap((name) => {
        const event = describeEvent(schema, events, name, CPU.events[name]);
        return event ? [[name, event] as const] : [];
      }),
    ),
    buffers: storages.filter(
      (storage) => (storage.flags & SF_BUFFER) !== 0 && isReadable(storage, CPU.shapes.buffer),
    ),
    counters: storages.filter((storage) => isCounterStorage(storage)),
    stageOf: (value) => (value === none?.value ? NO_STAGE : lookUp(value)),
  };
}

/** The label that means no stage; undefined where all labels are stages: the list has it, has other names for all of them, or is not there. */
function noStageOf(
  listed: string | undefined,
  labels: EnumDef | null,
): EnumDef['values'][number] | undefined {
  const names = stageNames(listed, null);
  if (names.length === 0 || names.length === labels?.values.length) return undefined;
  return labels?.values.find(({ name }) => name === NO_STAGE_LABEL && !names.includes(name));
}

function describeEntities(def: StorageDef): CoreEntities | null {
  if ((def.flags & SF_SPARSE) === 0) return null;
  const unread = unreadFields(def.fields, CPU.storages.entities);
  const index = (name: string): number =>
    def.fields.findIndex((field) => field.name === name && !unread.has(field));
  return {
    def,
    idField: index('entity_id'),
    pcField: index('pc'),
    bitsField: index('inst_bits'),
    compressedField: index('is_compressed'),
    threadField: index('thread_id'),
  };
}

/** Label of an enum's value; the number where it has none. */
export function labelOf(labels: EnumDef | null, value: number): string {
  return labels?.values.find((candidate) => candidate.value === value)?.name ?? String(value);
}
