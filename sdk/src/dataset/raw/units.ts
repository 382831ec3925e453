/** What a trace is divided into: its cores, its networks, and the scopes that belong to neither. Each is a partition `core=`. */
import { type EventDef, NO_ID, type Schema, type StorageDef, scopePath } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, findCores } from '../../semantics/cpu/index.js';
import { findNetworks, type NocNetwork } from '../../semantics/noc/index.js';
import type { Cycles } from './raw-pass.js';

export interface Unit {
  /** Scope path: `core0`, `mesh/router3`; `root` for what is in no scope. */
  readonly name: string;
  readonly kind: 'cpu' | 'noc' | 'scope';
  /** Of its clock, in ps; 1n where it is not known: cycles are then picoseconds. */
  readonly periodPs: bigint;
  readonly hasCycles: boolean;
  readonly core: CpuCore | null;
  readonly network: NocNetwork | null;
  readonly storages: readonly StorageDef[];
  readonly events: readonly EventDef[];
}

export function unitsOf(trace: Trace): Unit[] {
  const { schema } = trace;
  const cores = new Map(findCores(trace).map((core) => [core.scopeId, core]));
  const networks = new Map(findNetworks(trace).map((network) => [network.scopeId, network]));
  const homes = homesOf(schema);
  const wanted = new Set([...cores.keys(), ...networks.keys()]);
  for (const { scopeId } of [...schema.storages, ...schema.events]) wanted.add(homes.get(scopeId) ?? NO_ID);
  return [...wanted]
    .sort((a, b) => a - b)
    .map((scopeId) => {
      const core = cores.get(scopeId) ?? null;
      const network = networks.get(scopeId) ?? null;
      const period = BigInt((scopeId === NO_ID ? undefined : trace.clockOf(scopeId))?.periodPs ?? 0);
      const isHere = (def: { readonly scopeId: number }): boolean =>
        (homes.get(def.scopeId) ?? NO_ID) === scopeId;
      return {
        name: core?.name ?? network?.name ?? (scopePath(schema, scopeId) || 'root'),
        kind: core ? 'cpu' : network ? 'noc' : 'scope',
        periodPs: period > 0n ? period : 1n,
        hasCycles: period > 0n,
        core,
        network,
        storages: schema.storages.filter(isHere),
        events: schema.events.filter(isHere),
      } as const;
    });
}

/** For each scope the one whose partition it is in: the nearest with a protocol, itself included; itself where there is none. */
function homesOf({ scopes }: Schema): Map<number, number> {
  const homes = new Map<number, number>();
  for (const scope of scopes) {
    let at: (typeof scopes)[number] | undefined = scope;
    for (let depth = 0; at && at.protocol === null && depth < scopes.length; depth++)
      at = scopes[at.parentId];
    homes.set(scope.scopeId, at && at.protocol !== null ? at.scopeId : scope.scopeId);
  }
  return homes;
}

/** A unit, and its cycles during a walk. */
export interface CountedUnit {
  readonly unit: Unit;
  readonly cycles: Cycles;
}

/** Names of partitions for the definitions of a unit. A scope below it may have another one of the same name, which has a partition too. */
export class PartitionNames {
  private readonly names = new Set<string>();

  constructor(private readonly unit: string) {}

  of({ name, scopeId }: { readonly name: string; readonly scopeId: number }): string {
    const core = this.names.has(name) ? `${this.unit}/${scopeId}` : this.unit;
    this.names.add(name);
    return core;
  }
}
