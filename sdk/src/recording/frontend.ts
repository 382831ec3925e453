/**
 * What to record: a database holds fibers (streams of transactions of a kind), a fiber generators, a generator makes transactions. How it is recorded
 * is up to backends, which are called back for every act.
 */
import { UscopeError } from '../base/errors.js';
import { FtrPhase, type FtrText, FtrType, type FtrValue } from '../formats/ftr/index.js';
import { IS_FLOAT, IS_TEXT, TYPE_NAMES } from '../formats/ftr/types.js';

/** A value with its type: `tx.unsigned(3)`, `tx.logic('01XZ')`. */
export interface TypedValue {
  readonly type: FtrType;
  readonly value: FtrValue;
}

/** Plain values have the type that fits: boolean BOOLEAN, string STRING, bigint and whole number UNSIGNED, below 0 INTEGER, other numbers FLOATING_POINT_NUMBER. */
export type Recordable = boolean | number | bigint | string | TypedValue;

const integer = (value: number | bigint): bigint => BigInt(value);

/** Values of the types that plain values do not determine. */
export const tx = {
  enumeration: (value: string): TypedValue => ({ type: FtrType.ENUMERATION, value }),
  integer: (value: number | bigint): TypedValue => ({ type: FtrType.INTEGER, value: integer(value) }),
  unsigned: (value: number | bigint): TypedValue => ({ type: FtrType.UNSIGNED, value: integer(value) }),
  float: (value: number): TypedValue => ({ type: FtrType.FLOATING_POINT_NUMBER, value }),
  /** Digits 0 and 1, the highest bit first. */
  bits: (value: string): TypedValue => ({ type: FtrType.BIT_VECTOR, value }),
  /** Digits 0, 1, X and Z, the highest bit first. */
  logic: (value: string): TypedValue => ({ type: FtrType.LOGIC_VECTOR, value }),
  fixed: (value: number): TypedValue => ({ type: FtrType.FIXED_POINT_INTEGER, value }),
  unsignedFixed: (value: number): TypedValue => ({ type: FtrType.UNSIGNED_FIXED_POINT_INTEGER, value }),
  pointer: (value: number | bigint): TypedValue => ({ type: FtrType.POINTER, value: integer(value) }),
  /** In ps. */
  time: (value: number | bigint): TypedValue => ({ type: FtrType.TIME, value: integer(value) }),
} as const;

const PLAIN: Readonly<Record<string, (value: never) => TypedValue>> = {
  boolean: (value: boolean) => ({ type: FtrType.BOOLEAN, value }),
  string: (value: string) => ({ type: FtrType.STRING, value }),
  bigint: (value: bigint) => (value < 0n ? tx.integer(value) : tx.unsigned(value)),
  number: (value: number) => {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) return tx.float(value);
    return value < 0 ? tx.integer(value) : tx.unsigned(value);
  },
};

/** @throws UscopeError CONVERT_SOURCE for a value that is none of its type */
export function typed(value: Recordable): TypedValue {
  const one = typeof value === 'object' ? value : PLAIN[typeof value]?.(value as never);
  if (one && isOfType(one)) return one;
  const type = one ? TYPE_NAMES[one.type] : 'any type';
  throw new UscopeError('CONVERT_SOURCE', `${String(one?.value ?? value)} is not a value of ${type}`);
}

function isOfType({ type, value }: TypedValue): boolean {
  if (IS_TEXT[type] === 1) return typeof value === 'string' || value instanceof Uint8Array;
  if (IS_FLOAT[type] === 1) return typeof value === 'number';
  if (type === FtrType.BOOLEAN) return typeof value === 'boolean';
  if (typeof value !== 'bigint') return false;
  if (type === FtrType.INTEGER) return BigInt.asIntN(64, value) === value;
  return BigInt.asUintN(64, value) === value;
}

/** An attribute as backends get it. */
export interface RecordedAttribute extends TypedValue {
  readonly phase: FtrPhase;
  readonly name: FtrText;
}

/** Attributes that every transaction of a generator begins (or ends) with, in this order. */
export interface DeclaredAttribute {
  readonly name: string;
  readonly type: FtrType;
}

export interface GeneratorOptions {
  readonly begin?: readonly DeclaredAttribute[] | undefined;
  readonly end?: readonly DeclaredAttribute[] | undefined;
}

/** Attributes by name, or several of a name as pairs. */
export type Attributes = Readonly<Record<string, Recordable>> | readonly (readonly [string, Recordable])[];

/** What is called back; all of it is optional. Times are ps. */
export interface RecordingBackend {
  /** The database has been opened (at once, when the backend is registered), or closes. */
  open?(database: TxDatabase): void;
  fiber?(fiber: TxFiber): void;
  generator?(generator: TxGenerator): void;
  begin?(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void;
  /** Between begin and end. */
  attribute?(transaction: TxHandle, attribute: RecordedAttribute): void;
  end?(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void;
  relation?(name: string, source: TxHandle, sink: TxHandle): void;
  /** Whether `flush` is due. */
  readonly isFull?: boolean;
  flush?(): Promise<void>;
  close?(database: TxDatabase): Promise<void>;
}

/**
 *     const database = new TxDatabase('run');
 *     database.register(new FtrBackend(output));
 *     const bus = database.fiber('top.bus', 'transactor');
 *     const read = bus.generator('read', { begin: [{ name: 'addr', type: FtrType.UNSIGNED }] });
 *     const one = read.begin(100n, { addr: 0x40 });
 *     one.record('burst', true);
 *     one.end(180n);
 *     await database.close();
 */
export class TxDatabase {
  private readonly backends: RecordingBackend[] = [];
  /** Streams and generators are numbered together. */
  private declared = 0n;
  private begun = 0n;
  private now = 0n;
  private isClosed = false;

  constructor(readonly name: string) {}

  /** Has all that follows recorded. @throws UscopeError CONVERT_SOURCE when something has been declared already */
  register(backend: RecordingBackend): this {
    if (this.declared > 0n) throw misuse('backends are registered before fibers are made');
    this.backends.push(backend);
    backend.open?.(this);
    return this;
  }

  fiber(name: string, kind = ''): TxFiber {
    const fiber = new TxFiber(this, this.nextId(), name, kind);
    this.tell((backend) => backend.fiber?.(fiber));
    return fiber;
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.backends.some(({ isFull }) => isFull === true);
  }

  async flush(): Promise<void> {
    for (const backend of this.backends) await backend.flush?.();
  }

  /** Completes what the backends write. Transactions that have not ended are left to them. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const backend of this.backends) await backend.close?.(this);
  }

  /** @internal */
  nextId(): bigint {
    return ++this.declared;
  }

  /** @internal */
  nextTransaction(): bigint {
    return ++this.begun;
  }

  /** @internal Time never goes back. @throws UscopeError CONVERT_SOURCE */
  advance(timePs: number | bigint): bigint {
    const time = BigInt(timePs);
    if (time < this.now || BigInt.asUintN(64, time) !== time)
      throw misuse(`time ${time} ps is before ${this.now} ps, which has been recorded, or none`);
    this.now = time;
    return time;
  }

  /** @internal */
  tell(act: (backend: RecordingBackend) => void): void {
    if (this.isClosed) throw misuse(`the database ${this.name} is closed`);
    for (const backend of this.backends) act(backend);
  }
}

export class TxFiber {
  /** @internal Fibers are made by their database. */
  constructor(
    readonly database: TxDatabase,
    readonly id: bigint,
    readonly name: string,
    readonly kind: string,
  ) {}

  generator(name: string, options: GeneratorOptions = {}): TxGenerator {
    const generator = new TxGenerator(
      this,
      this.database.nextId(),
      name,
      options.begin ?? [],
      options.end ?? [],
    );
    this.database.tell((backend) => backend.generator?.(generator));
    return generator;
  }
}

export class TxGenerator {
  /** @internal Generators are made by their fiber. */
  constructor(
    readonly fiber: TxFiber,
    readonly id: bigint,
    readonly name: string,
    readonly beginAttributes: readonly DeclaredAttribute[],
    readonly endAttributes: readonly DeclaredAttribute[],
  ) {}

  /** Begins a transaction. @throws UscopeError CONVERT_SOURCE for a time before what has been recorded, or a value that is none of its type */
  begin(timePs: number | bigint, attributes: Attributes = {}): TxHandle {
    const { database } = this.fiber;
    const recorded = inOrder(attributes, FtrPhase.BEGIN, this.beginAttributes);
    const start = database.advance(timePs);
    const handle = new TxHandle(this, database.nextTransaction(), start);
    database.tell((backend) => backend.begin?.(handle, recorded));
    return handle;
  }
}

export class TxHandle {
  /** undefined until it ends. */
  endPs: bigint | undefined;

  /** @internal Transactions are made by their generator. */
  constructor(
    readonly generator: TxGenerator,
    readonly id: bigint,
    readonly startPs: bigint,
  ) {}

  get fiber(): TxFiber {
    return this.generator.fiber;
  }

  /** @throws UscopeError CONVERT_SOURCE */
  record(name: string, value: Recordable): this {
    this.checkOpen();
    const attribute = { phase: FtrPhase.RECORD, name, ...typed(value) };
    this.fiber.database.tell((backend) => backend.attribute?.(this, attribute));
    return this;
  }

  /** @throws UscopeError CONVERT_SOURCE */
  end(timePs: number | bigint, attributes: Attributes = {}): void {
    this.checkOpen();
    const { database } = this.fiber;
    const recorded = inOrder(attributes, FtrPhase.END, this.generator.endAttributes);
    this.endPs = database.advance(timePs);
    database.tell((backend) => backend.end?.(this, recorded));
  }

  /** A relation of which this is the source. Both may have ended. */
  relate(name: string, sink: TxHandle): this {
    this.fiber.database.tell((backend) => backend.relation?.(name, this, sink));
    return this;
  }

  private checkOpen(): void {
    if (this.endPs !== undefined) throw misuse(`transaction ${this.id} has ended`);
  }
}

/** Those that are declared first, in the order of the declaration and under its types. */
function inOrder(
  attributes: Attributes,
  phase: FtrPhase,
  declared: readonly DeclaredAttribute[],
): RecordedAttribute[] {
  const pairs = Array.isArray(attributes) ? [...attributes] : Object.entries(attributes);
  const first = declared.flatMap(({ name, type }): RecordedAttribute[] => {
    const at = pairs.findIndex(([given]) => given === name);
    if (at < 0) return [];
    const [[, value]] = pairs.splice(at, 1);
    const plain = typed(value);
    return [{ phase, name, ...typed({ type, value: plain.value }) }];
  });
  return [...first, ...pairs.map(([name, value]): RecordedAttribute => ({ phase, name, ...typed(value) }))];
}

function misuse(detail: string): UscopeError {
  return new UscopeError('CONVERT_SOURCE', detail);
}
