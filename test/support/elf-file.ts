/** ELF files for tests: one section of code, and the names of functions and labels in it. */

export interface ElfName {
  readonly name: string;
  readonly from: number;
  readonly size?: number;
  /** 2: a function (default), 0: a label, 1: data. */
  readonly type?: number;
  /** Section number; 1 (default) is the code. */
  readonly section?: number;
}

export interface ElfShape {
  readonly is64: boolean;
  readonly isLittle: boolean;
}

const SECTIONS = 4;

/** Code of `size` bytes at `address`; sections: none, code, symbols, names. */
export function elfFile(
  names: readonly ElfName[],
  { address = 0x8000_0000, size = 0x1000 } = {},
  { is64, isLittle }: ElfShape = { is64: false, isLittle: true },
): Uint8Array {
  const entry = is64 ? 24 : 16;
  const header = is64 ? 64 : 52;
  const sectionSize = is64 ? 64 : 40;
  const strings = `\0${names.map(({ name }) => `${name}\0`).join('')}`;
  const symbolsAt = header;
  const stringsAt = symbolsAt + (names.length + 1) * entry;
  const sectionsAt = stringsAt + strings.length;
  const bytes = new Uint8Array(sectionsAt + SECTIONS * sectionSize);
  const view = new DataView(bytes.buffer);
  const u16 = (at: number, value: number): void => view.setUint16(at, value, isLittle);
  const u32 = (at: number, value: number): void => view.setUint32(at, value, isLittle);
  const word = (at: number, value: number): void =>
    is64 ? view.setBigUint64(at, BigInt(value), isLittle) : u32(at, value);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, isLittle ? 1 : 2, 1]);
  word(is64 ? 40 : 32, sectionsAt);
  u16(is64 ? 58 : 46, sectionSize);
  u16(is64 ? 60 : 48, SECTIONS);
  let nameAt = 1;
  names.forEach(({ name, from, size: length = 0, type = 2, section = 1 }, index) => {
    const at = symbolsAt + (index + 1) * entry;
    u32(at, nameAt);
    nameAt += name.length + 1;
    word(at + (is64 ? 8 : 4), from);
    word(at + (is64 ? 16 : 8), length);
    bytes[at + (is64 ? 4 : 12)] = 0x10 | type;
    u16(at + (is64 ? 6 : 14), section);
  });
  const sections = [
    {},
    { type: 1, flags: 6, address, offset: 0, size },
    { type: 2, offset: symbolsAt, size: stringsAt - symbolsAt, link: 3, entry },
    { type: 3, offset: stringsAt, size: strings.length },
  ];
  sections.forEach((section, index) => {
    const at = sectionsAt + index * sectionSize;
    u32(at + 4, section.type ?? 0);
    word(at + 8, section.flags ?? 0);
    word(at + (is64 ? 16 : 12), section.address ?? 0);
    word(at + (is64 ? 24 : 16), section.offset ?? 0);
    word(at + (is64 ? 32 : 20), section.size ?? 0);
    u32(at + (is64 ? 40 : 24), section.link ?? 0);
    word(at + (is64 ? 56 : 36), section.entry ?? 0);
  });
  for (let i = 0; i < strings.length; i++) bytes[stringsAt + i] = strings.charCodeAt(i);
  return bytes;
}
