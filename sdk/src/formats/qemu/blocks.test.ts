import { expect, it } from 'vitest';
import { destinationOf } from './blocks.js';

it('compressed instructions write the register of those that they represent', () => {
  const [ADDI4SPN, LWSP, JALR, LUI] = [0x0048, 0x42c2, 0x9282, 0x6585];
  expect([ADDI4SPN, LWSP, JALR, LUI].map((bits) => destinationOf(bits, true))).toEqual([10, 5, 1, 11]);
  // c.flw and c.flwsp of RV32 are c.ld and c.ldsp in RV64.
  const [FLW, FLWSP] = [0x6040, 0x6082];
  expect([FLW, FLWSP].map((bits) => destinationOf(bits, true))).toEqual([0, 0]);
  expect([FLW, FLWSP].map((bits) => destinationOf(bits, false))).toEqual([8, 1]);
});
