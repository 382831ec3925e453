/** Walks the transactions of a block: the hot loop of everything that reads. Nothing is allocated per transaction or attribute. */
import { CborReader, Major } from './cbor.js';
import { contentError, isCutHere } from './content.js';
import type { RawChunk } from './reader.js';
import {
  FtrForm,
  type FtrPhase,
  type FtrRawTransaction,
  IS_FLOAT,
  IS_TEXT,
  OLD_STRING,
  TYPE_NAMES,
} from './types.js';

const HEAD_TAG = 6;
const FIRST_PHASE_TAG = 7;
const [FALSE_INFO, TRUE_INFO] = [20, 21];

/**
 * `next()` moves to the next transaction that is there as a whole; its ids and times are u32 halves, its attributes the first `count` of the
 * arrays.
 *
 *   const cursor = new TransactionCursor(chunk);
 *   while (cursor.next()) for (let i = 0; i < cursor.count; i++) use(cursor.names[i], cursor.types[i], cursor.los[i], cursor.his[i]);
 *
 * @throws UscopeError from `next`: CONVERT_FORMAT, CONVERT_LIMIT
 */
export class TransactionCursor {
  idLo = 0;
  idHi = 0;
  generatorLo = 0;
  generatorHi = 0;
  startLo = 0;
  startHi = 0;
  endLo = 0;
  endHi = 0;
  /** Attributes: of each its phase, type, `FtrForm`, the number of the text that is its name, and the bits of its form. */
  count = 0;
  phases = new Uint8Array(64);
  types = new Uint8Array(64);
  forms = new Uint8Array(64);
  names = new Uint32Array(64);
  los = new Uint32Array(64);
  his = new Uint32Array(64);

  private readonly cbor: CborReader;
  private left = -1;
  private at = 0;

  constructor(private readonly chunk: RawChunk) {
    this.cbor = new CborReader(chunk.content);
  }

  get id(): bigint {
    return (BigInt(this.idHi) << 32n) | BigInt(this.idLo);
  }

  get generator(): bigint {
    return (BigInt(this.generatorHi) << 32n) | BigInt(this.generatorLo);
  }

  get start(): bigint {
    return (BigInt(this.startHi) << 32n) | BigInt(this.startLo);
  }

  get end(): bigint {
    return (BigInt(this.endHi) << 32n) | BigInt(this.endLo);
  }

  /** The present transaction as a value. */
  get transaction(): FtrRawTransaction {
    const attributes = Array.from({ length: this.count }, (_, i) => ({
      phase: this.phases[i] as FtrPhase,
      name: this.names[i],
      type: this.types[i],
      form: this.forms[i] as FtrForm,
      bits: (BigInt(this.his[i]) << 32n) | BigInt(this.los[i]),
    }));
    const { id, generator, start, end } = this;
    return { id, generator, start, end, attributes };
  }

  next(): boolean {
    try {
      return this.step();
    } catch (error) {
      isCutHere(this.chunk, this.at, error);
      this.left = 0;
      return false;
    }
  }

  private step(): boolean {
    const { cbor } = this;
    this.at = cbor.at;
    if (this.left < 0) {
      cbor.head();
      if (cbor.major !== Major.ARRAY) this.fail('a block of transactions is not an array');
      this.left = cbor.isIndefinite ? Number.POSITIVE_INFINITY : cbor.number;
      this.at = cbor.at;
    }
    if (this.left === 0) return false;
    if (this.left === Number.POSITIVE_INFINITY && cbor.isAtBreak) {
      this.left = 0;
      return false;
    }
    this.left--;
    if (cbor.head() !== Major.ARRAY || (cbor.number === 0 && !cbor.isIndefinite))
      this.fail('a transaction is not an array');
    let parts = cbor.isIndefinite ? Number.POSITIVE_INFINITY : cbor.number;
    this.readHead();
    this.count = 0;
    for (parts--; parts > 0; parts--) {
      if (parts === Number.POSITIVE_INFINITY && cbor.isAtBreak) {
        cbor.skipBreak();
        break;
      }
      this.readAttribute();
    }
    return true;
  }

  private readHead(): void {
    const { cbor } = this;
    if (cbor.head() !== Major.TAG || cbor.lo !== HEAD_TAG || cbor.hi !== 0)
      this.fail('a transaction does not begin with its head (tag 6)');
    if (cbor.head() !== Major.ARRAY || cbor.isIndefinite || cbor.number !== 4)
      this.fail('the head of a transaction has not four parts');
    this.unsigned();
    this.idLo = cbor.lo;
    this.idHi = cbor.hi;
    this.unsigned();
    this.generatorLo = cbor.lo;
    this.generatorHi = cbor.hi;
    this.unsigned();
    this.startLo = cbor.lo;
    this.startHi = cbor.hi;
    this.unsigned();
    this.endLo = cbor.lo;
    this.endHi = cbor.hi;
  }

  private unsigned(): void {
    this.cbor.head();
    if (this.cbor.major !== Major.UNSIGNED) this.fail('a number of a transaction is not an unsigned one');
  }

  private readAttribute(): void {
    const { cbor } = this;
    const i = this.count;
    if (i === this.names.length) this.grow();
    const isTag = cbor.head() === Major.TAG;
    const phase = cbor.number - FIRST_PHASE_TAG;
    if (!isTag || phase < 0 || phase > 2)
      this.fail('a part of a transaction is not an attribute (tags 7, 8 and 9)');
    if (cbor.head() !== Major.ARRAY || cbor.isIndefinite || cbor.number !== 3)
      this.fail('an attribute has not three parts');
    this.unsigned();
    if (cbor.hi !== 0)
      throw contentError(
        this.chunk,
        this.at,
        'CONVERT_LIMIT',
        `the name of an attribute is text ${cbor.value}; numbers of texts stay below 2^32`,
      );
    this.names[i] = cbor.lo;
    this.unsigned();
    const type = cbor.number;
    if (type > OLD_STRING) this.fail(`an attribute has the unknown type ${type}`);
    this.phases[i] = phase;
    this.types[i] = type;
    cbor.head();
    this.forms[i] = this.formOf(type);
    this.los[i] = cbor.lo;
    this.his[i] = cbor.hi;
    this.count = i + 1;
  }

  private formOf(type: number): FtrForm {
    const { major, info, lo, hi } = this.cbor;
    if (major === Major.UNSIGNED) {
      if (IS_TEXT[type] === 1 && hi !== 0)
        this.fail('the value of an attribute is not a text of the dictionary');
      return FtrForm.UNSIGNED;
    }
    if (IS_TEXT[type] === 0) {
      if (major === Major.NEGATIVE) return FtrForm.NEGATIVE;
      if (major === Major.SIMPLE && (info === FALSE_INFO || info === TRUE_INFO) && IS_FLOAT[type] === 0) {
        this.cbor.lo = lo - FALSE_INFO;
        return FtrForm.BOOLEAN;
      }
      if (major === Major.SIMPLE && info >= 25 && info <= 27 && IS_FLOAT[type] === 1)
        return (FtrForm.FLOAT16 + info - 25) as FtrForm;
    }
    return this.fail(`the value of an attribute does not fit the type ${TYPE_NAMES[type] ?? 'STRING'}`);
  }

  private grow(): void {
    const double = <T extends Uint8Array | Uint32Array>(old: T): T => {
      const grown = new (old.constructor as new (size: number) => T)(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.phases = double(this.phases);
    this.types = double(this.types);
    this.forms = double(this.forms);
    this.names = double(this.names);
    this.los = double(this.los);
    this.his = double(this.his);
  }

  private fail(detail: string): never {
    throw contentError(this.chunk, this.at, 'CONVERT_FORMAT', detail);
  }
}
