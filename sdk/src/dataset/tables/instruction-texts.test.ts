import { expect, it } from 'vitest';
import { generator } from '../../../../test/support/recorded-run.js';
import { disassemble } from '../../semantics/cpu/index.js';
import { InstructionTexts } from './instruction-texts.js';

/** Of a dictionary page: each with its length before it. */
function textsIn(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint32(at, true);
    texts.push(new TextDecoder().decode(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return texts;
}

it.each([32, 64] as const)('texts of RV%i are those of each address, in each row group', (xlen) => {
  const choose = generator(xlen);
  // Branches, jumps, auipc, and what any opcode is; 16 bits too.
  const codes = Array.from({ length: 400 }, (_, index) => {
    const any = choose(2 ** 31) * 2 + choose(2);
    const opcodes = [0x63, 0x6f, 0x17, 0x13, any & 0x7f];
    return ((any & ~0x7f) | opcodes[index % opcodes.length]!) >>> 0;
  });
  const texts = new InstructionTexts(xlen);
  for (let group = 0; group < 3; group++) {
    texts.begin();
    const asked = Array.from({ length: 3000 }, () => {
      const [bits, lo, hi] = [codes[choose(codes.length)]!, choose(6) * 0x1000, choose(2)];
      const hasPc = choose(4) > 0;
      const pc = hasPc ? (BigInt(hi) << 32n) | BigInt(lo) : undefined;
      return { index: texts.indexOf(bits, hasPc, lo, hi), expected: disassemble(bits, { xlen, pc }) };
    });
    const page = texts.dictionary.finish();
    const all = textsIn(page.bytes);
    expect(all.length).toBe(page.count);
    expect(new Set(all).size).toBe(all.length);
    for (const { index, expected } of asked) expect(all[index]).toBe(expected);
  }
});
