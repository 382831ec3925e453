/** The networks of a trace: scopes with the protocol `noc` or one below it (`noc.router`), and what of the conventions each follows. */
import { UscopeError } from '../../base/errors.js';
import {
  type ClockDef,
  type EventDef,
  FieldType,
  NO_ID,
  type Schema,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
  scopePath,
} from '../../format/types.js';
import { isReadable, membersOf, NOC, ownFirst, unreadFields } from '../../protocols/index.js';
import type { Trace } from '../../reader/index.js';
import {
  describeEvent,
  type ProtocolEvent,
  scopeProperty,
  stageLookup,
  stageNames,
} from '../common/describe.js';
import type { Catalog } from '../lifecycle/segments.js';

export const NOC_PROTOCOL = NOC.protocol;
const CATALOG_NAME = 'transactions';
const ID_NAME = NOC.id;
const STAGES_KEY = 'noc.pipeline_stages';
const HANDOFF_NAME = 'txn_handoff';

export type NocEventName = Exclude<keyof typeof NOC.events, typeof HANDOFF_NAME>;

const EVENT_NAMES = Object.keys(NOC.events).filter(
  (name) => name !== HANDOFF_NAME,
) as readonly NocEventName[];

/** The catalog of transactions in flight. */
export interface NocTransactions extends Catalog {
  /** Index of each field of the conventions; -1 where the trace has no such field. */
  readonly opcodeField: number;
  readonly addrField: number;
  readonly lenField: number;
  readonly sizeField: number;
  readonly srcPortField: number;
  readonly dstPortField: number;
  /** Label of an opcode; the number where it has none. */
  opcodeLabel(value: number): string;
}

export interface NocNetwork {
  /** Scope path without the root: `mesh`, `mesh/router3`; the scope's own name where the root itself is the network. */
  readonly name: string;
  readonly scopeId: number;
  /** `noc`, `noc.router`, … */
  readonly protocol: string;
  readonly clock: ClockDef | undefined;
  /** Clock period in ps; 0n: unknown, there are no cycles. */
  readonly periodPs: bigint;
  /** Stages in order; see `stageOf`. */
  readonly stages: readonly string[];
  readonly transactions: NocTransactions | null;
  readonly events: ReadonlyMap<NocEventName, ProtocolEvent>;
  /** `txn_handoff` of this scope or the nearest above that has it. */
  readonly handoff: ProtocolEvent | null;
  /** Queues, links: buffers whose slots name a transaction. */
  readonly buffers: readonly StorageDef[];
  /** Index into `stages` of a value of the field `stage`; -1 for a value that is none. */
  stageOf(value: number): number;
}

/** Every network of a trace, routers included, in the order of the schema. */
export function findNetworks(trace: Trace): NocNetwork[] {
  return trace.schema.scopes
    .filter(({ protocol }) => protocol === NOC_PROTOCOL || protocol?.startsWith(NOC.prefix))
    .map(({ scopeId }) => describeNetwork(trace, scopeId));
}

/**
 * The network of that name: its scope path, or the scope's own name where only one has it. Without a name the first one.
 * @throws UscopeError READER_NAME: no such network, or no network at all
 */
export function findNetwork(trace: Trace, name?: string): NocNetwork {
  const networks = findNetworks(trace);
  const [first] = networks;
  if (!first) {
    const detail = `the trace has no network: none of its scopes has the protocol "${NOC_PROTOCOL}"`;
    throw new UscopeError('READER_NAME', detail);
  }
  if (name === undefined) return first;
  const exact = networks.filter((network) => network.name === name);
  const matches = exact.length > 0 ? exact : networks.filter((network) => network.name.endsWith(`/${name}`));
  if (matches.length === 1 && matches[0]) return matches[0];
  const known = networks.map((network) => network.name).join(', ');
  const problem = matches.length > 1 ? `"${name}" is the name of several` : `there is no network "${name}"`;
  throw new UscopeError('READER_NAME', `${problem}; the trace has: ${known}`);
}

function describeNetwork(trace: Trace, scopeId: number): NocNetwork {
  const { schema } = trace;
  const inside = membersOf(schema, scopeId);
  const storages = ownFirst(schema.storages, inside, scopeId);
  const events = ownFirst(schema.events, inside, scopeId);
  const { protocol, name } = schema.scopes[scopeId]!;
  const path = scopePath(schema, scopeId);
  const clock = trace.clockOf(scopeId);
  const found = new Map<NocEventName, ProtocolEvent>();
  for (const eventName of EVENT_NAMES) {
    const event = describeEvent(schema, events, eventName, NOC.events[eventName]);
    if (event) found.set(eventName, event);
  }
  const labels = found.get('stage_transition')?.fields.get('stage')?.labels ?? null;
  const stages = stageNames(stageList(trace, path, protocol), labels);
  return {
    name: path || name,
    scopeId,
    protocol: protocol ?? '',
    clock,
    periodPs: BigInt(clock?.periodPs ?? 0),
    stages,
    transactions: describeCatalog(schema, storages),
    events: found,
    handoff: handoffOf(schema, scopeId, events),
    buffers: storages.filter(
      (storage) => (storage.flags & SF_BUFFER) !== 0 && isReadable(storage, NOC.shapes.buffer),
    ),
    stageOf: stageLookup(stages, labels),
  };
}

/** The list without a scope is that of the network; a router's stages are others. */
function stageList(trace: Trace, path: string, protocol: string | null): string | undefined {
  if (protocol === NOC_PROTOCOL) return scopeProperty(trace, path, STAGES_KEY);
  return trace.dutProperty(`${path}/${STAGES_KEY}`);
}

function describeCatalog(schema: Schema, storages: readonly StorageDef[]): NocTransactions | null {
  const def = storages.find((storage) => storage.name === CATALOG_NAME);
  if (!def || (def.flags & SF_SPARSE) === 0) return null;
  const unread = unreadFields(def.fields, NOC.storages.transactions);
  const index = (name: string): number =>
    def.fields.findIndex((field) => field.name === name && !unread.has(field));
  const opcode = def.fields[index('opcode')];
  const labels = opcode?.type === FieldType.ENUM ? schema.enums[opcode.enumId] : undefined;
  return {
    def,
    idField: index(ID_NAME),
    opcodeField: index('opcode'),
    addrField: index('addr'),
    lenField: index('len'),
    sizeField: index('size'),
    srcPortField: index('src_port'),
    dstPortField: index('dst_port'),
    opcodeLabel: (value) =>
      labels?.values.find((candidate) => candidate.value === value)?.name ?? String(value),
  };
}

/** A handoff belongs to a scope above both that take part: the nearest that has the event. */
function handoffOf(schema: Schema, scopeId: number, own: readonly EventDef[]): ProtocolEvent | null {
  const inside = describeEvent(schema, own, HANDOFF_NAME, NOC.events.txn_handoff);
  let id = scopeId;
  for (let depth = 0; depth <= schema.scopes.length; depth++) {
    const scope = schema.scopes[id];
    if (!scope) break;
    const here = schema.events.filter((event) => event.scopeId === id);
    const found =
      describeEvent(schema, here, HANDOFF_NAME, NOC.events.txn_handoff) ?? (id === scopeId ? inside : null);
    if (found) return found;
    if (scope.parentId === NO_ID) break;
    id = scope.parentId;
  }
  const rootLevel = schema.events.filter((event) => event.scopeId === NO_ID);
  return describeEvent(schema, rootLevel, HANDOFF_NAME, NOC.events.txn_handoff);
}
