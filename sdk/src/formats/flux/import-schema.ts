/** The schema of a µScope trace made of flux: scopes as in the file, an event per signal, a clock per domain, and the scope `flux`. */
import { type Fields, SchemaBuilder, type ScopeBuilder } from '../../schema/index.js';
import { ENTRIES_PROPERTY, ENTRIES_VERSION, FORM_FIELDS, Form, META_EVENTS, META_SCOPE } from './mapping.js';
import type { FluxLane, Survey, SurveyedSignal } from './survey.js';

/** Room in a schema for the definitions and names of signals; those beyond it have the common event `flux/sample`. */
const DEFINITION_ROOM = 40_000;
const NAME_ROOM = 40_000;
const MAX_DEPTH = 48;

export interface SignalPlan {
  readonly signal: SurveyedSignal;
  /** Full name of its event; empty: the common one. */
  readonly event: string;
}

interface ScopePlan {
  readonly builder: ScopeBuilder;
  readonly path: string;
  readonly taken: Set<string>;
}

export function buildSchema(survey: Survey) {
  const clocks = new DomainNames(survey.lanes.all);
  const builder = new SchemaBuilder().dut(ENTRIES_PROPERTY, ENTRIES_VERSION);
  for (const { name, periodPs, note } of clocks.all) {
    builder.clock(name, periodPs);
    if (note) builder.dut(`flux.clock.${name}`, note);
  }
  const plans = new SignalScopes(survey, clocks, builder).plan();
  const meta = builder.scope(META_SCOPE, { clock: clocks.all[0].name });
  for (const [name, fields] of Object.entries(META_EVENTS)) meta.event(name, fields);
  return { ...builder.build(), plans };
}

class SignalScopes {
  private readonly scopes = new Map<string, ScopePlan>();
  private readonly root: ScopePlan;
  private definitions = 0;
  private names = 0;

  constructor(
    private readonly survey: Survey,
    private readonly clocks: DomainNames,
    builder: SchemaBuilder,
  ) {
    this.root = { builder, path: '', taken: new Set([META_SCOPE]) };
  }

  plan(): SignalPlan[] {
    const plans: SignalPlan[] = [];
    for (const id of this.survey.traceNames.keys()) this.traceScope(id);
    for (const signal of this.survey.signals.values()) {
      plans.push({ signal, event: signal.form === Form.BYTES ? '' : this.define(signal) });
    }
    return plans;
  }

  private define(signal: SurveyedSignal): string {
    const fields = fieldsOf(signal);
    const size = 8 + 8 * Object.keys(fields).length;
    if (this.definitions + size > DEFINITION_ROOM || this.names > NAME_ROOM) return '';
    const key = `${signal.trace}:${signal.id}`;
    const item = this.survey.items.get(key);
    const scope = this.scopeOf(signal.trace, item?.parent ?? 0, 0);
    const name = this.name(scope, item?.name || `item${signal.id}`, signal.id);
    this.definitions += size;
    this.names += 3 * Object.keys(fields).length;
    scope.builder.event(name, fields);
    return `${scope.path}/${name}`;
  }

  private traceScope(trace: number): ScopePlan {
    const key = `${trace}:0`;
    const known = this.scopes.get(key);
    if (known) return known;
    const title = this.survey.traceNames.get(trace) || `trace${trace}`;
    return this.add(key, this.root, title, trace, this.clocks.ofTrace(trace));
  }

  private scopeOf(trace: number, id: number, depth: number): ScopePlan {
    const key = `${trace}:${id}`;
    const known = this.scopes.get(key);
    if (known) return known;
    const item = this.survey.items.get(key);
    const isFull = this.definitions > DEFINITION_ROOM || this.names > NAME_ROOM;
    if (!item || depth >= MAX_DEPTH || isFull) return this.traceScope(trace);
    const parent = this.scopeOf(trace, item.parent, depth + 1);
    // A damaged file may name a scope as its own ancestor.
    const made = this.scopes.get(key);
    if (made) return made;
    const lane = this.survey.laneOfItem.get(key);
    return this.add(key, parent, item.name || `item${id}`, id, lane && this.clocks.ofLane(lane));
  }

  private add(
    key: string,
    parent: ScopePlan,
    title: string,
    id: number,
    clock: string | undefined,
  ): ScopePlan {
    const name = this.name(parent, title, id);
    const path = parent.path ? `${parent.path}/${name}` : name;
    const builder = parent.builder.scope(name, clock ? { clock } : {});
    const scope = { builder, path, taken: new Set<string>() };
    this.definitions += 12;
    this.scopes.set(key, scope);
    return scope;
  }

  /** A name as schemas have them, the only one of its kind in its scope. */
  private name({ taken }: ScopePlan, text: string, id: number): string {
    const plain = text.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 100);
    const base = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
    let name = base;
    for (let n = id; taken.has(name); n++) name = `${base}_${n}`;
    taken.add(name);
    this.names += name.length + 1;
    return name;
  }
}

function fieldsOf({ form, members }: SurveyedSignal): Fields {
  const common = FORM_FIELDS.get(form);
  if (common) return common;
  const fields: Record<string, string> = { tag: 'u8', present: 'u64' };
  for (const one of members) {
    const plain = one.label.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 60);
    const base = /^[A-Za-z_]/.test(plain) ? plain : `m${one.member}_${plain}`;
    const name = base in fields ? `${base}_m${one.member}` : base;
    fields[name] = one.form === Form.INTEGER ? 'i64' : one.form === Form.FLOAT ? 'u64' : 'string';
    if (one.form === Form.FLOAT) fields[`${name}.width`] = 'u8';
  }
  return fields;
}

/** Clocks of a µScope trace made of flux: one per domain. */
export interface DomainClock {
  readonly domain: string;
  readonly name: string;
  /** 0: longer than a clock's period can be. */
  readonly periodPs: number;
  /** What is said of a clock that does not count time. */
  readonly note: string;
}

const MAX_PERIOD = 0xffff_ffffn;
const MAX_CLOCKS = 200;

export class DomainNames {
  readonly all: DomainClock[] = [];
  private readonly byDomain = new Map<string, DomainClock>();
  private readonly byTrace = new Map<number, DomainClock>();

  constructor(lanes: readonly FluxLane[]) {
    for (const lane of lanes) {
      const clock = this.clock(lane);
      if (lane.hasValues && !this.byTrace.has(lane.trace)) this.byTrace.set(lane.trace, clock);
    }
    if (this.all.length === 0) this.all.push({ domain: 'ps', name: 'ps', periodPs: 1, note: '' });
  }

  ofLane({ domain }: FluxLane): string {
    return (this.byDomain.get(domain) ?? this.all[0]).name;
  }

  ofTrace(trace: number): string {
    return (this.byTrace.get(trace) ?? this.all[0]).name;
  }

  private clock({ domain, unit }: FluxLane): DomainClock {
    const known = this.byDomain.get(domain);
    if (known || this.all.length >= MAX_CLOCKS) return known ?? this.all[0];
    const plain = (domain || 'none').replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 40);
    const base = unit.isTime ? plain : `private_${plain}`;
    let name = base;
    for (let n = 2; this.all.some((one) => one.name === name); n++) name = `${base}_${n}`;
    const period = unit.den === 1n && unit.num <= MAX_PERIOD ? Number(unit.num) : unit.den === 1n ? 0 : 1;
    const note = unit.isTime ? '' : `no time: 1 ps represents 1 ${domain.slice(0, 40) || 'unit'}`;
    const clock = { domain, name, periodPs: period, note };
    this.all.push(clock);
    this.byDomain.set(domain, clock);
    return clock;
  }
}
