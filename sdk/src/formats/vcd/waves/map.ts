/** Maps (docs/reference/formats/vcd.md#maps): which signals of a waveform become what in a trace. YAML to a plan. */
import type { Node } from 'yaml';
import { isUscopeError, UscopeError } from '../../../base/errors.js';
import type { DutProperties, Schema } from '../../../format/types.js';
import { SchemaBuilder } from '../../../schema/index.js';
import { isName, NAME_RULE } from '../../../schema/names.js';
import { type FixedKeys, NodeReader } from '../../../schema/node-reader.js';
import { parsePeriod } from '../../../schema/period.js';
import { Problems } from '../../../schema/problems.js';
import { SchemaWork } from '../../../schema/work.js';
import { type Entry, YamlSource } from '../../../schema/yaml-source.js';
import { planChannel } from '../kinds/channel.js';
import { planCounter } from '../kinds/counter.js';
import { planEvent } from '../kinds/event.js';
import { planFifo } from '../kinds/fifo.js';
import { planFsm } from '../kinds/fsm.js';
import { planStorage } from '../kinds/storage.js';
import { planWords } from '../kinds/words.js';
import type { VcdSignal } from '../read/header.js';
import { planRvfi, rvfiEnums } from '../rvfi/plan.js';
import { SignalNames } from '../sampling/names.js';
import { EntryReader, PlanScope, Registry } from '../sampling/plan-scope.js';
import type { FollowedPart, RecorderFactory } from '../sampling/run.js';
import { TransactionPlan } from '../sampling/transaction-plan.js';

/** A clock of a map, and what is recorded at its edges. */
export interface ClockPlan {
  readonly name: string;
  readonly signal: FollowedPart;
  /** 0: to be measured. */
  readonly periodPs: number;
  readonly scopes: readonly ScopePlan[];
}

export interface ScopePlan {
  readonly reset: { readonly part: FollowedPart; readonly isLow: boolean } | null;
  readonly recorders: readonly RecorderFactory[];
}

export interface WavePlan {
  readonly clocks: readonly ClockPlan[];
  /** Signals by index in the store. */
  readonly followed: readonly VcdSignal[];
  readonly transactions: TransactionPlan;
  /** @param periods of the clocks, in ps */
  schema(periods: readonly number[]): { schema: Schema; dut: DutProperties };
}

const TOP_KEYS = ['waves', 'clock', 'reset', 'period', 'dut', 'scopes'];
const KINDS = {
  storages: planStorage,
  words: planWords,
  counters: planCounter,
  events: planEvent,
  fsms: planFsm,
  channels: planChannel,
  fifos: planFifo,
} as const;
const SCOPE_KEYS = ['in', 'clock', 'reset', 'period', 'rvfi', 'isa', ...Object.keys(KINDS)];
const VERSION = '1';

/** @throws UscopeError SCHEMA_* for the YAML, CONVERT_OPTION for what does not fit the waveform; with line and column */
export function readMap(text: string, file: string, signals: readonly VcdSignal[]): WavePlan {
  const problems = new Problems();
  const plan = problems.collect(() => {
    const source = YamlSource.parse(text, file, problems, new SchemaWork());
    return source
      ? new MapReader(new NodeReader(source, problems), new SignalNames(signals)).read()
      : undefined;
  });
  problems.throwIfAny();
  if (!plan)
    throw new UscopeError('CONVERT_OPTION', 'the map is empty; it needs waves, clock and scopes', { file });
  return plan;
}

interface Defaults {
  readonly clock: string | undefined;
  readonly reset: string | undefined;
  readonly period: number;
}

class MapReader {
  private readonly registry: Registry;
  private readonly clocks: { name: string; signal: FollowedPart; periodPs: number; scopes: ScopePlan[] }[] =
    [];
  private readonly builders: ((builder: SchemaBuilder) => void)[] = [];
  private readonly enums: ((builder: SchemaBuilder) => void)[] = [];
  private readonly dut: [string, string][] = [];
  private readonly transactions = new TransactionPlan();

  constructor(
    private readonly nodes: NodeReader,
    names: SignalNames,
  ) {
    this.registry = new Registry(names);
  }

  read(): WavePlan | undefined {
    const keys = this.nodes.fixedKeys(this.nodes.source.root, 'the map', TOP_KEYS, false);
    if (!keys) return undefined;
    const version = keys.get('waves');
    const versionText = version && this.nodes.source.scalar(version.value)?.text;
    if (versionText !== VERSION) this.nodes.missing('the map', 'waves', 'waves: 1', this.root());
    for (const { key, value, keyNode } of this.nodes.entriesOf(keys.get('dut'), '"dut"'))
      this.dut.push([key, this.nodes.text(value, keyNode, `"${key}"`) ?? '']);
    const defaults = this.defaults(keys, { clock: undefined, reset: undefined, period: 0 }, 'the map');
    const scopes = this.nodes.entriesOf(keys.get('scopes'), '"scopes"');
    if (scopes.length === 0) this.nodes.missing('the map', 'scopes', 'at least one scope', this.root());
    for (const entry of scopes) this.scope(entry, defaults);
    return this.plan();
  }

  private root(): Node {
    return this.nodes.source.root as Node;
  }

  private defaults(keys: FixedKeys, outer: Defaults, what: string): Defaults {
    const text = (key: string): string | undefined => {
      const entry = keys.get(key);
      return entry && this.nodes.text(entry.value, entry.keyNode, `"${key}" of ${what}`);
    };
    const periodText = text('period');
    const period = periodText === undefined ? { ps: outer.period } : parsePeriod(periodText);
    if ('problem' in period) this.problem(keys.get('period'), `period "${periodText}": ${period.problem}`);
    return {
      clock: text('clock') ?? outer.clock,
      reset: text('reset') ?? outer.reset,
      period: 'ps' in period ? period.ps : 0,
    };
  }

  private scope(entry: Entry, outer: Defaults): void {
    const what = `scope "${entry.key}"`;
    if (!isName(entry.key)) {
      this.problem(entry, `"${entry.key}" is not a name: ${NAME_RULE}`);
      return;
    }
    const keys = this.nodes.fixedKeys(entry.value, what, SCOPE_KEYS);
    if (!keys) return;
    const own = this.defaults(keys, outer, what);
    const inEntry = keys.get('in');
    const within = (inEntry && this.nodes.text(inEntry.value, inEntry.keyNode, `"in" of ${what}`)) ?? '';
    const rvfi = keys.get('rvfi');
    if (own.clock === undefined) {
      this.problem(entry, `${what} has no clock: write clock: SIGNAL there, or at the top`);
      return;
    }
    const scope = new PlanScope(entry.key, within, this.registry, this.transactions);
    const clock = this.attempt(entry, () => this.clockOf(own.clock as string, within, own.period));
    const reset = this.attempt(entry, () => resetOf(scope, own.reset));
    if (rvfi) this.attempt(rvfi, () => this.rvfi(scope, rvfi, keys.get('isa')));
    for (const [kind, plan] of Object.entries(KINDS)) this.members(scope, kind, keys.get(kind), plan);
    for (const add of scope.enums) this.enums.push(add);
    this.builders.push((builder) => {
      const inner = builder.scope(entry.key, {
        ...(rvfi ? { protocol: 'cpu' } : {}),
        clock: clock?.name ?? '',
      });
      for (const add of scope.members) add(inner);
    });
    clock?.scopes.push({ reset: reset ?? null, recorders: scope.recorders });
  }

  private members(
    scope: PlanScope,
    kind: string,
    section: Entry | undefined,
    plan: (scope: PlanScope, entry: EntryReader) => void,
  ): void {
    for (const entry of this.nodes.entriesOf(section, `"${kind}" of scope "${scope.name}"`)) {
      this.attempt(entry, () => {
        scope.take(entry.key);
        plan(scope, new EntryReader(entry, this.nodes, `${kind} "${entry.key}"`));
      });
    }
  }

  private rvfi(scope: PlanScope, entry: Entry, isa: Entry | undefined): void {
    const prefix = this.nodes.text(entry.value, entry.keyNode, '"rvfi"');
    if (prefix === undefined) return;
    const isaText = (isa && this.nodes.text(isa.value, isa.keyNode, '"isa"')) ?? null;
    const isFirst = this.dut.every(([key]) => !key.endsWith('cpu.protocol_version'));
    if (isFirst) this.enums.push(rvfiEnums);
    const { properties } = planRvfi(scope, prefix, isaText);
    // Properties without a path are those of the first core; others have theirs in front.
    for (const [key, value] of properties) this.dut.push([isFirst ? key : `${scope.name}/${key}`, value]);
  }

  private clockOf(name: string, within: string, periodPs: number) {
    const signal = this.registry.follow(name, within);
    if (signal.width !== 1)
      throw new UscopeError('CONVERT_OPTION', `the clock ${signal.path} has ${signal.width} bits`);
    const known = this.clocks.find(
      (clock) => clock.signal.signal === signal.signal && clock.signal.from === signal.from,
    );
    if (known) return known;
    const base = (name.split('.').at(-1) ?? 'clk').replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
    const taken = this.clocks.filter(
      (clock) => clock.name === base || clock.name.startsWith(`${base}_`),
    ).length;
    const clock = {
      name: taken === 0 ? base : `${base}_${taken}`,
      signal,
      periodPs,
      scopes: [] as ScopePlan[],
    };
    this.clocks.push(clock);
    return clock;
  }

  /** What one entry does not find is reported with its place, and the next one is read. */
  private attempt<T>(entry: Entry, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      this.nodes.problems.push(error.at(this.nodes.place(entry.value ?? entry.keyNode)));
      return undefined;
    }
  }

  private problem(entry: Entry | undefined, detail: string): void {
    const node = entry?.value ?? entry?.keyNode ?? this.root();
    this.nodes.problems.add('CONVERT_OPTION', detail, this.nodes.place(node));
  }

  private plan(): WavePlan {
    const { clocks, builders, enums, dut, registry, transactions } = this;
    return {
      clocks,
      followed: registry.signals,
      transactions,
      schema: (periods) => {
        const builder = new SchemaBuilder();
        clocks.forEach(({ name }, index) => {
          builder.clock(name, periods[index]);
        });
        if (dut.every(([key]) => key !== 'dut_name')) builder.dut('dut_name', 'waveform');
        for (const [key, value] of dut) builder.dut(key, value);
        for (const add of enums) add(builder);
        for (const add of builders) add(builder);
        transactions.addScope(builder, clocks[0]?.name ?? '');
        return builder.build();
      },
    };
  }
}

function resetOf(scope: PlanScope, text: string | undefined): ScopePlan['reset'] {
  if (text === undefined) return null;
  const isLow = /^[!~]/.test(text);
  return { part: scope.bits(text.replace(/^[!~]\s*/, '')), isLow };
}
