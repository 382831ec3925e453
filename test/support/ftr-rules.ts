/**
 * The rules of an FTR file (docs/reference/formats/ftr.md) read from its bytes, without the SDK: its own CBOR and LZ4. For files that others shall open.
 */
interface Tagged {
  readonly tag: number;
  readonly value: Item;
}
type Item = bigint | number | boolean | string | Uint8Array | Item[] | Map<bigint, Item> | Tagged;

const BREAK = Symbol('break');
const TYPES = { LABEL: new Set([1, 5, 6, 10]), FLOAT: new Set([4, 7, 8]), UNSIGNED: new Set([3, 9, 11]) };

class Cbor {
  at = 0;
  /** Arrays of unknown length that were met, and maps. */
  indefinite = 0;
  constructor(readonly bytes: Uint8Array) {}

  next(): Item {
    const item = this.item();
    if (item === BREAK) throw new Error(`a break at ${this.at} ends nothing`);
    return item;
  }

  private item(): Item | typeof BREAK {
    const first = this.byte();
    const [major, info] = [first >> 5, first & 31];
    if (first === 0xff) return BREAK;
    if (first === 0x9f) return this.untilBreak();
    if (major === 7) return this.simple(info);
    const count = this.head(info);
    if (major === 0) return count;
    if (major === 1) return -1n - count;
    if (major === 2) return this.take(Number(count));
    if (major === 3) return new TextDecoder('utf-8', { fatal: true }).decode(this.take(Number(count)));
    if (major === 4) return Array.from({ length: Number(count) }, () => this.next());
    if (major === 6) return { tag: Number(count), value: this.next() };
    const pairs = Array.from({ length: Number(count) }, () => [this.next() as bigint, this.next()] as const);
    return new Map(pairs);
  }

  private untilBreak(): Item[] {
    this.indefinite++;
    const items: Item[] = [];
    for (let item = this.item(); item !== BREAK; item = this.item()) items.push(item);
    return items;
  }

  /** As LWTR4SC writes them: the largest value of a size takes the next one. */
  private head(info: number): bigint {
    if (info < 24) return BigInt(info);
    if (info > 27) throw new Error(`head ${info} at ${this.at}`);
    const size = 1 << (info - 24);
    let value = 0n;
    for (const byte of this.take(size)) value = (value << 8n) | BigInt(byte);
    const least = [24n, 0xffn, 0xffffn, 0xffffffffn][info - 24]!;
    if (value < least) throw new Error(`${value} takes ${size} bytes at ${this.at}`);
    return value;
  }

  private simple(info: number): boolean | number {
    if (info === 20 || info === 21) return info === 21;
    const bytes = this.take(info === 26 ? 4 : info === 27 ? 8 : Number.NaN);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return info === 26 ? view.getFloat32(0) : view.getFloat64(0);
  }

  private byte(): number {
    return this.take(1)[0]!;
  }
  private take(count: number): Uint8Array {
    if (!(this.at + count <= this.bytes.length)) throw new Error(`the file ends at ${this.at}`);
    this.at += count;
    return this.bytes.slice(this.at - count, this.at);
  }
}

/** A raw LZ4 block. */
function unpacked(block: Uint8Array, size: number): Uint8Array {
  const out: number[] = [];
  let at = 0;
  const length = (nibble: number): number => {
    let sum = nibble;
    if (nibble === 15) for (let more = 255; more === 255; sum += more) more = block[at++]!;
    return sum;
  };
  while (at < block.length) {
    const token = block[at++]!;
    for (let n = length(token >> 4); n > 0; n--) out.push(block[at++]!);
    if (at >= block.length) break;
    const distance = block[at]! | (block[at + 1]! << 8);
    at += 2;
    for (let n = length(token & 15) + 4; n > 0; n--) out.push(out[out.length - distance]!);
  }
  if (out.length !== size) throw new Error(`a block of ${out.length} bytes, ${size} are promised`);
  return Uint8Array.from(out);
}

/** What the rules let one count in a file. @throws Error the rule that it breaks */
export function checkFtrRules(bytes: Uint8Array) {
  if (Buffer.from(bytes.subarray(0, 4)).toString('hex') !== 'd9d9f79f') throw new Error('the magic');
  if (bytes.at(-1) !== 0xff) throw new Error('the last byte ends no array');
  const file = new Cbor(bytes);
  file.at = 4;
  const rules = new Rules();
  while (file.at < bytes.length - 1) rules.chunk(file.next() as Tagged);
  return rules.counts;
}

class Rules {
  readonly counts = { texts: 0, streams: 0, generators: 0, transactions: 0, attributes: 0, relations: 0 };
  private chunks = 0;
  private readonly texts: string[] = [];
  private readonly streams = new Set<bigint>();
  private readonly generators = new Map<bigint, bigint>();

  chunk({ tag, value }: Tagged): void {
    if ((this.chunks++ === 0) !== (tag === 6)) throw new Error(`chunk ${this.chunks} has tag ${tag}`);
    const parts = Array.isArray(value) ? value : [value];
    const isPacked = tag !== 6 && tag % 2 === 1;
    const payload = parts.at(-1) as Uint8Array;
    const content = new Cbor(isPacked ? unpacked(payload, Number(parts.at(-2))) : payload);
    const item = content.next();
    if (content.at !== content.bytes.length)
      throw new Error(`chunk ${this.chunks} goes on after its content`);
    if (tag === 6) this.info(item as Item[]);
    else if (tag === 8 || tag === 9) this.dictionary(item as Map<bigint, Item>);
    else if (content.indefinite === 0) throw new Error(`chunk ${this.chunks}: its array has a length`);
    else if (tag === 10 || tag === 11) for (const one of item as Tagged[]) this.declaration(one);
    else if (tag === 12 || tag === 13) this.block(parts as bigint[], item as Item[][]);
    else if (tag === 14 || tag === 15) for (const one of item as bigint[][]) this.relation(one);
    else throw new Error(`tag ${tag} of a chunk`);
  }

  private info([exponent, time]: Item[]): void {
    if (exponent !== -12n || (time as Tagged).tag !== 1) throw new Error('the header');
  }
  private dictionary(entries: Map<bigint, Item>): void {
    for (const [id, text] of entries) {
      if (id !== BigInt(this.texts.length)) throw new Error(`text ${id} after ${this.texts.length} others`);
      if (typeof text !== 'string' || (id === 0n && text !== '')) throw new Error(`text ${id}`);
      this.texts.push(text);
    }
    this.counts.texts = this.texts.length;
  }
  private text(id: Item | undefined): void {
    if (typeof id !== 'bigint' || id >= BigInt(this.texts.length))
      throw new Error(`text ${id} is used early`);
  }
  private declaration({ tag, value }: Tagged): void {
    const [id, name, last] = value as bigint[];
    this.text(name);
    if (tag === 16) {
      this.text(last);
      this.streams.add(id!);
      this.counts.streams++;
    } else if (tag === 17 && this.streams.has(last!)) {
      this.generators.set(id!, last!);
      this.counts.generators++;
    } else throw new Error(`declaration ${tag} of ${id}`);
  }
  private block([stream, start, end]: bigint[], transactions: Item[][]): void {
    for (const [head, ...attributes] of transactions) {
      const { tag, value } = head as Tagged;
      const [, generator, from, to] = value as bigint[];
      if (tag !== 6 || this.generators.get(generator!) !== stream) throw new Error(`generator ${generator}`);
      if (from! > to! || from! < start! || to! > end!) throw new Error(`times ${from} to ${to}`);
      for (const one of attributes) this.attribute(one as Tagged);
      this.counts.transactions++;
    }
  }
  private attribute({ tag, value }: Tagged): void {
    const [name, type, content] = value as [bigint, bigint, Item];
    this.text(name);
    const kind = Number(type);
    if (tag < 7 || tag > 9 || kind > 11) throw new Error(`attribute ${tag} of type ${type}`);
    if (TYPES.LABEL.has(kind)) this.text(content);
    else if (TYPES.FLOAT.has(kind) ? typeof content !== 'number' : kind === 0 && typeof content !== 'boolean')
      throw new Error(`a value of type ${type} is ${content}`);
    else if (TYPES.UNSIGNED.has(kind) && !(typeof content === 'bigint' && content >= 0n))
      throw new Error(`a value of type ${type} is ${content}`);
    this.counts.attributes++;
  }
  private relation(one: bigint[]): void {
    if (one.length !== 5) throw new Error(`a relation of ${one.length}`);
    this.text(one[0]);
    this.counts.relations++;
  }
}
