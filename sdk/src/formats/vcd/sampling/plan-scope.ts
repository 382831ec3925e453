/** What the kinds of a map's entries are planned with: a scope that collects, and an entry that is read. */
import { UscopeError } from '../../../base/errors.js';
import type { SchemaBuilder, ScopeBuilder } from '../../../schema/index.js';
import { isName, NAME_RULE } from '../../../schema/names.js';
import type { FixedKeys, NodeReader } from '../../../schema/node-reader.js';
import type { Entry } from '../../../schema/yaml-source.js';
import { addRecordingScope, FtrTag } from '../../common/recording.js';
import type { VcdSignal } from '../read/header.js';
import { type Condition, parseCondition } from './condition.js';
import { type FieldPiece, piecesOf } from './fields.js';
import type { SignalNames, SignalPart } from './names.js';
import type { FollowedPart, RecorderFactory, Run } from './run.js';

/** Gives indices of the store to the signals that some entry needs. */
export class Registry {
  readonly signals: VcdSignal[] = [];
  private readonly indices = new Map<number, number>();

  constructor(readonly names: SignalNames) {}

  /** @throws UscopeError CONVERT_OPTION */
  follow(name: string, within: string): FollowedPart {
    return this.take(this.names.find(name, within));
  }

  take({ signal, from, width, kind }: SignalPart): FollowedPart {
    let index = this.indices.get(signal.code);
    if (index === undefined) {
      index = this.signals.length;
      this.indices.set(signal.code, index);
      this.signals.push(signal);
    }
    return { signal: index, from, width, kind, path: signal.path };
  }
}

export class PlanScope {
  readonly members: ((scope: ScopeBuilder) => void)[] = [];
  readonly enums: ((builder: SchemaBuilder) => void)[] = [];
  readonly recorders: RecorderFactory[] = [];
  private readonly taken = new Set<string>();

  constructor(
    readonly name: string,
    readonly within: string,
    private readonly registry: Registry,
    readonly transactions: TransactionPlan,
  ) {}

  /** @throws UscopeError CONVERT_OPTION for a name that is none or that is there already */
  take(name: string): void {
    if (!isName(name)) throw new UscopeError('CONVERT_OPTION', `"${name}" is not a name: ${NAME_RULE}`);
    if (this.taken.has(name))
      throw new UscopeError('CONVERT_OPTION', `scope "${this.name}" has "${name}" twice`);
    this.taken.add(name);
  }

  /** @throws UscopeError CONVERT_OPTION */
  follow(name: string): FollowedPart {
    return this.registry.follow(name, this.within);
  }

  /** A signal that has bits. @throws UscopeError CONVERT_OPTION */
  bits(name: string): FollowedPart {
    return checkBits(this.follow(name));
  }

  bitsIfThere(name: string): FollowedPart | null {
    const found = this.registry.names.look(name, this.within);
    return found && checkBits(this.registry.take(found));
  }

  /** @throws UscopeError CONVERT_OPTION when there are none */
  numbered(pattern: string): Map<number, FollowedPart> {
    const found = this.registry.names.numbered(pattern, this.within);
    if (found.size === 0)
      throw new UscopeError(
        'CONVERT_OPTION',
        `the waveform has no signal of the form ${pattern}${this.within && ` in ${this.within}`}; simulators write memories only when they are asked to`,
      );
    return new Map([...found].map(([number, part]) => [number, this.registry.take(part)]));
  }

  /** Reads the names now; the condition itself needs the values. */
  condition(text: string): (run: Run) => Condition {
    const parts = new Map<string, FollowedPart>();
    parseCondition(text, (name) => {
      parts.set(name, this.bits(name));
      return null as never; // nothing is evaluated here
    });
    return (run) => parseCondition(text, (name) => run.probe(parts.get(name) as FollowedPart));
  }
}

function checkBits(part: FollowedPart): FollowedPart {
  if (part.kind === 'bits') return part;
  throw new UscopeError(
    'CONVERT_OPTION',
    `${part.path} has ${part.kind === 'text' ? 'texts' : 'reals'}; bits are needed here`,
  );
}

/** One entry of a section, with the place of each of its values. */
export class EntryReader {
  constructor(
    readonly entry: Entry,
    private readonly nodes: NodeReader,
    private readonly what: string,
  ) {}

  get name(): string {
    return this.entry.key;
  }

  /** The value where it is text instead of a mapping. */
  shorthand(): string | null {
    return this.nodes.source.isMap(this.entry.value)
      ? null
      : (this.nodes.text(this.entry.value, this.entry.keyNode, this.what) ?? null);
  }

  fixedKeys(known: readonly string[]): FixedKeys {
    return this.nodes.fixedKeys(this.entry.value, this.what, known) ?? new Map();
  }

  text(keys: FixedKeys, key: string): string | undefined {
    const entry = keys.get(key);
    return entry && this.nodes.text(entry.value, entry.keyNode, `"${key}" of ${this.what}`);
  }

  /** @throws UscopeError CONVERT_OPTION when it is not there */
  needed(keys: FixedKeys, key: string, hint: string): string {
    const text = this.text(keys, key);
    if (text === undefined)
      throw new UscopeError('CONVERT_OPTION', `${this.what} has no "${key}": write ${hint}`);
    return text;
  }

  integer(keys: FixedKeys, key: string): number | undefined {
    const entry = keys.get(key);
    return entry && this.nodes.integer(entry, `"${key}" of ${this.what}`);
  }

  /** Names and texts of a mapping in the entry. */
  pairs(keys: FixedKeys, key: string): [name: string, text: string][] {
    return this.nodes
      .entriesOf(keys.get(key), `"${key}" of ${this.what}`)
      .flatMap(({ key: name, value, keyNode }) => {
        const text = this.nodes.text(value, keyNode, `"${name}"`);
        return text === undefined ? [] : [[name, text] as [string, string]];
      });
  }

  /** @throws UscopeError CONVERT_OPTION for signals that are not there */
  fields(scope: PlanScope, keys: FixedKeys): FieldPiece[] {
    return this.pairs(keys, 'fields').flatMap(([name, signal]) => piecesOf(name, scope.follow(signal)));
  }
}

// The scope in which all channels of a map record their transfers (docs/how-to/transactions.md).

export const TRANSACTION_SCOPE = 'tr';
const KIND = 'channel';
const ACCEPTED = 'transfer';
/** The scope of all transactions of a conversion. */
export class TransactionPlan {
  /** Names of the channels: a stream and its generator each. */
  readonly streams: string[] = [];

  addScope(builder: SchemaBuilder, clock: string): void {
    if (this.streams.length === 0) return;
    addRecordingScope(builder, clock, TRANSACTION_SCOPE);
  }

  /** Streams and generators are declared before the first transaction. */
  declare(run: Run): void {
    this.streams.forEach((name, index) => {
      const stream = 2 * index + 1;
      run.open().event(`${TRANSACTION_SCOPE}/dir`, [FtrTag.STREAM, stream, name, 0, KIND]);
      run.open().event(`${TRANSACTION_SCOPE}/dir`, [FtrTag.GENERATOR, stream + 1, ACCEPTED, stream, '']);
    });
  }
}
