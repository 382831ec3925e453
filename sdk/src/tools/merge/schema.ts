/** The schemas of several traces in one: a scope for each below a common root; clocks and enums that are the same are shared. */
import {
  type ClockDef,
  type EnumDef,
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
  type ScopeDef,
} from '../../format/types.js';
import type { IdMap } from '../../stream/frame-copier.js';
import type { NamedInput } from './names.js';

/** Where an input's definitions went. */
export interface InputMap {
  readonly ids: IdMap;
  /** New scope ids by old ones. */
  readonly scopes: readonly number[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };

const ROOT: ScopeDef = { name: 'root', scopeId: 0, parentId: NO_ID, protocol: null, clockId: INHERIT_CLOCK };

export function mergeSchemas(
  inputs: readonly NamedInput[],
  notes: string[],
): { schema: Schema; maps: InputMap[] } {
  const schema: Mutable<Schema> = {
    clocks: [],
    scopes: [ROOT],
    enums: [],
    storages: [],
    events: [],
    summaryFields: [],
  };
  const maps = inputs.map((input) => new InputMerge(input, schema, notes).run());
  return { schema, maps };
}

class InputMerge {
  private readonly source: Schema;
  private readonly scopes: number[] = [];

  constructor(
    private readonly input: NamedInput,
    private readonly target: Mutable<Schema>,
    private readonly notes: string[],
  ) {
    this.source = input.overflow.schema;
  }

  run(): InputMap {
    const { source, target } = this;
    const clocks = source.clocks.map((clock) => this.addClock(clock));
    this.addScopes(clocks);
    const enums = source.enums.map((def) => this.addEnum(def));
    const fields = (all: readonly FieldDef[]): FieldDef[] =>
      all.map((field) => (field.type === FieldType.ENUM ? { ...field, enumId: enums[field.enumId] } : field));
    const storages = source.storages.map((def) => {
      const storageId = target.storages.length;
      const scopeId = this.scopeOf(def.scopeId);
      const own = { storageId, scopeId, fields: fields(def.fields), properties: fields(def.properties) };
      target.storages.push({ ...def, ...own });
      return storageId;
    });
    const events = source.events.map((def) => {
      const eventTypeId = target.events.length;
      target.events.push({
        ...def,
        eventTypeId,
        scopeId: this.scopeOf(def.scopeId),
        fields: fields(def.fields),
      });
      return eventTypeId;
    });
    for (const def of source.summaryFields) {
      target.summaryFields.push({ ...def, scopeId: this.scopeOf(def.scopeId) });
    }
    const ids = { storages: Uint16Array.from(storages), events: Uint16Array.from(events) };
    return { ids, scopes: this.scopes };
  }

  /** Parents first, whatever the order in the input. */
  private addScopes(clocks: readonly number[]): void {
    const { scopes } = this.source;
    const { top, scope: name, trace } = this.input;
    const depth = new Map(scopes.map((scope) => [scope, depthOf(this.source, scope)]));
    // Next to the one that holds everything there may be one of control events.
    const isTop = ({ scopeId }: ScopeDef): number => Number(scopeId === top);
    const order = [...scopes].sort((a, b) => depth.get(a)! - depth.get(b)! || isTop(b) - isTop(a));
    for (const scope of order) {
      const { scopeId, parentId } = scope;
      if (scopeId === 0 && top !== 0) {
        this.scopes[0] = 0; // the empty root is the common one
        continue;
      }
      const newId = this.target.scopes.length;
      this.scopes[scopeId] = newId;
      const own = scope.clockId === INHERIT_CLOCK ? INHERIT_CLOCK : clocks[scope.clockId];
      if (scopeId !== top) {
        const isBeside = parentId === NO_ID || (parentId === 0 && top !== 0);
        const parent = isBeside ? this.scopes[top] : this.scopes[parentId];
        this.target.scopes.push({ ...scope, scopeId: newId, parentId: parent, clockId: own });
        continue;
      }
      // What this scope inherited in its own file it must name here: the common root has no clock.
      const inherited = trace.clockOf(scopeId);
      const clockId = inherited
        ? clocks[inherited.clockId]
        : this.addClock({ name: 'clk', clockId: 0, periodPs: 0 });
      this.target.scopes.push({ ...scope, name, scopeId: newId, parentId: 0, clockId });
    }
  }

  private scopeOf(scopeId: number): number {
    return this.scopes[scopeId === NO_ID ? 0 : scopeId];
  }

  private addClock(clock: ClockDef): number {
    const { clocks } = this.target;
    const same = clocks.find(({ name, periodPs }) => name === clock.name && periodPs === clock.periodPs);
    if (same) return same.clockId;
    const name = this.freeName('clock', clock.name, clocks);
    clocks.push({ ...clock, name, clockId: clocks.length });
    return clocks.length - 1;
  }

  private addEnum(def: EnumDef): number {
    const { enums } = this.target;
    const same = enums.findIndex((other) => other.name === def.name && sameValues(other, def));
    if (same >= 0) return same;
    enums.push({ ...def, name: this.freeName('enum', def.name, enums) });
    return enums.length - 1;
  }

  /** `core_clk`, or `core1.core_clk` where another one is called that. */
  private freeName(kind: string, wanted: string, all: readonly { readonly name: string }[]): string {
    const isFree = (name: string): boolean => all.every((other) => other.name !== name);
    if (isFree(wanted)) return wanted;
    let name = `${this.input.scope}.${wanted}`;
    for (let n = 2; !isFree(name); n++) name = `${this.input.scope}.${wanted}_${n}`;
    this.notes.push(
      `${kind} "${wanted}" of ${this.input.name} differs from that of another input: it is called "${name}"`,
    );
    return name;
  }
}

/** Scopes above a scope; the reader has made sure that none is its own ancestor. */
function depthOf({ scopes }: Schema, scope: ScopeDef): number {
  let depth = 0;
  for (let id = scope.parentId; id !== NO_ID; id = scopes[id].parentId) depth++;
  return scope.scopeId === 0 ? 0 : depth + 1;
}

function sameValues(a: EnumDef, b: EnumDef): boolean {
  return (
    a.values.length === b.values.length &&
    a.values.every(({ name, value }, i) => name === b.values[i].name && value === b.values[i].value)
  );
}
