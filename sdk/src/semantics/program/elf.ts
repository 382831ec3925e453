/** Symbols of an ELF file (32 or 64 bits, either byte order): which function an address belongs to. */
import { UscopeError } from '../../base/errors.js';

/** Addresses `[from, to)` of one function, or of one label of assembly. */
export interface FunctionSymbol {
  readonly name: string;
  readonly from: bigint;
  readonly to: bigint;
}

const MAGIC = 0x7f45_4c46;
const SectionType = { SYMTAB: 2, DYNSYM: 11 } as const;
const SectionFlag = { EXECUTABLE: 4n } as const;
const SymbolType = { NONE: 0, FUNCTION: 2, INDIRECT_FUNCTION: 10 } as const;
/** Section numbers from here on say something else: absolute, common. */
const RESERVED_SECTIONS = 0xff00;
/** Labels that assemblers make: local ones, and those that mark code and data. */
const MADE_LABEL = /^$|^\.L|^\$[adtx]/;

interface Section {
  readonly type: number;
  readonly flags: bigint;
  readonly address: bigint;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly entrySize: number;
}

interface SymbolEntry {
  readonly name: string;
  readonly type: number;
  readonly isGlobal: boolean;
  readonly section: number;
  readonly from: bigint;
  readonly size: bigint;
}

export class ElfSymbols {
  private constructor(
    /** By address; they do not overlap. */
    readonly functions: readonly FunctionSymbol[],
  ) {}

  /** @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED, CONVERT_SOURCE: no ELF file, or one without the names of functions */
  static parse(bytes: Uint8Array): ElfSymbols {
    const file = new ElfFile(bytes);
    const functions = functionsOf(file);
    if (functions.length === 0)
      throw new UscopeError(
        'CONVERT_SOURCE',
        'the ELF file has no names of functions; use the file before strip removed them',
      );
    return new ElfSymbols(functions);
  }

  /** The function that an address is in. */
  find(pc: bigint): FunctionSymbol | null {
    const { functions } = this;
    let [low, high] = [0, functions.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (functions[middle].from <= pc) low = middle + 1;
      else high = middle;
    }
    const found = functions[low - 1];
    return found && pc < found.to ? found : null;
  }
}

function functionsOf(file: ElfFile): FunctionSymbol[] {
  const { sections } = file;
  const symbols = file.symbols();
  const isCode = ({ section }: SymbolEntry): boolean =>
    section > 0 &&
    section < RESERVED_SECTIONS &&
    ((sections[section]?.flags ?? 0n) & SectionFlag.EXECUTABLE) !== 0n;
  const places = new Map<bigint, SymbolEntry>();
  for (const symbol of symbols) {
    if (rankOf(symbol) === 0 || !isCode(symbol)) continue;
    const there = places.get(symbol.from);
    if (!there || rankOf(symbol) > rankOf(there)) places.set(symbol.from, symbol);
  }
  const starts = [...places.values()].sort((a, b) => (a.from < b.from ? -1 : 1));
  return withoutInner(starts).map((symbol, index, all) => {
    const { address, size } = sections[symbol.section];
    const next = all[index + 1]?.from;
    // What has no size reaches to the next name, or to the end of its section.
    const end = symbol.size > 0n ? symbol.from + symbol.size : address + BigInt(size);
    return { name: symbol.name, from: symbol.from, to: next !== undefined && next < end ? next : end };
  });
}

/** Labels inside a function that has a size are places in it, no functions. */
function withoutInner(starts: readonly SymbolEntry[]): SymbolEntry[] {
  let until = 0n;
  return starts.filter((symbol) => {
    if (symbol.size > 0n && symbol.from + symbol.size > until) until = symbol.from + symbol.size;
    return symbol.size > 0n || symbol.from >= until;
  });
}

/** Which of the names of an address is the one to print; 0: none. */
function rankOf({ name, type, isGlobal, size }: SymbolEntry): number {
  const isFunction = type === SymbolType.FUNCTION || type === SymbolType.INDIRECT_FUNCTION;
  if (MADE_LABEL.test(name) || !(isFunction || type === SymbolType.NONE)) return 0;
  return 1 + (isFunction ? 4 : 0) + (size > 0n ? 2 : 0) + (isGlobal ? 1 : 0);
}

class ElfFile {
  readonly sections: readonly Section[];
  private readonly view: DataView;
  private readonly is64: boolean;
  private readonly isLittle: boolean;
  private readonly decoder = new TextDecoder();

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 20 || this.view.getUint32(0) !== MAGIC)
      throw new UscopeError('CONVERT_FORMAT', 'this is not an ELF file: it does not begin with 7f 45 4c 46', {
        offset: 0,
      });
    this.is64 = this.choice(4, 'class (32 or 64 bits)') === 2;
    this.isLittle = this.choice(5, 'byte order') === 1;
    this.sections = this.readSections();
  }

  symbols(): SymbolEntry[] {
    const table =
      this.sections.find(({ type }) => type === SectionType.SYMTAB) ??
      this.sections.find(({ type }) => type === SectionType.DYNSYM);
    if (!table) return [];
    const strings = this.sections[table.link];
    if (!strings) throw this.wrong(`the names of symbols are in section ${table.link}, which is not there`);
    const size = this.is64 ? 24 : 16;
    if (table.entrySize !== size)
      throw this.wrong(`an entry of the symbol table has ${table.entrySize} bytes, not ${size}`);
    return Array.from({ length: Math.floor(table.size / size) }, (_, index) =>
      this.symbol(table.offset + index * size, strings),
    );
  }

  private symbol(at: number, strings: Section): SymbolEntry {
    const { is64 } = this;
    const info = this.view.getUint8(at + (is64 ? 4 : 12));
    return {
      name: this.string(strings, this.u32(at)),
      type: info & 15,
      isGlobal: info >> 4 !== 0,
      section: this.u16(at + (is64 ? 6 : 14)),
      from: this.word(at + (is64 ? 8 : 4)),
      size: this.word(at + (is64 ? 16 : 8)),
    };
  }

  private readSections(): Section[] {
    const { is64 } = this;
    const offset = this.place(is64 ? 40 : 32, 'the section table');
    const at = is64 ? 58 : 46;
    const [entrySize, declared] = [this.u16(at), this.u16(at + 2)];
    if (offset === 0) return [];
    const size = is64 ? 64 : 40;
    if (entrySize !== size)
      throw this.wrong(`an entry of the section table has ${entrySize} bytes, not ${size}`);
    // A count that 16 bits cannot hold is the size of section 0.
    const count = declared > 0 ? declared : this.place(offset + (is64 ? 32 : 20), 'the number of sections');
    this.need(offset, count * size, 'the section table');
    return Array.from({ length: count }, (_, index) => this.section(offset + index * size));
  }

  private section(at: number): Section {
    const { is64 } = this;
    const type = this.u32(at + 4);
    const isRead = type === SectionType.SYMTAB || type === SectionType.DYNSYM || type === 3;
    const offset = this.place(at + (is64 ? 24 : 16), 'a section');
    const size = this.place(at + (is64 ? 32 : 20), 'a section');
    if (isRead) this.need(offset, size, 'a section');
    return {
      type,
      flags: this.word(at + 8),
      address: this.word(at + (is64 ? 16 : 12)),
      offset,
      size,
      link: this.u32(at + (is64 ? 40 : 24)),
      entrySize: this.place(at + (is64 ? 56 : 36), 'a section'),
    };
  }

  private string({ offset, size }: Section, index: number): string {
    if (index >= size) return '';
    const end = this.bytes.subarray(0, offset + size).indexOf(0, offset + index);
    return this.decoder.decode(this.bytes.subarray(offset + index, end < 0 ? offset + size : end));
  }

  private choice(at: number, what: string): number {
    const value = this.bytes[at];
    if (value === 1 || value === 2) return value;
    throw this.wrong(`its ${what} is ${value}, which no ELF file has`);
  }

  private u16(at: number): number {
    this.need(at, 2, 'the header');
    return this.view.getUint16(at, this.isLittle);
  }

  private u32(at: number): number {
    this.need(at, 4, 'the header');
    return this.view.getUint32(at, this.isLittle);
  }

  /** An address, a size or flags: 4 bytes or 8. */
  private word(at: number): bigint {
    if (!this.is64) return BigInt(this.u32(at));
    this.need(at, 8, 'the header');
    return this.view.getBigUint64(at, this.isLittle);
  }

  private place(at: number, what: string): number {
    const value = this.word(at);
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    throw this.wrong(`a place or size of ${what} is ${value}`);
  }

  private need(offset: number, size: number, what: string): void {
    if (offset + size <= this.bytes.length) return;
    throw new UscopeError(
      'CONVERT_TRUNCATED',
      `the ELF file ends inside ${what}: that needs ${offset + size} bytes, and there are ${this.bytes.length}`,
      { offset },
    );
  }

  private wrong(detail: string): UscopeError {
    return new UscopeError('CONVERT_FORMAT', `the ELF file is damaged: ${detail}`);
  }
}
