/** RISC-V machine code as text. */
export { csrName } from './csr-names.js';
export { type DisassembleOptions, disassemble, isUnknown } from './disassemble.js';
export type { Xlen } from './encodings.js';
export { instructionLength, xlenOfIsa } from './isa.js';
export { floatRegisterName, registerName } from './operands.js';
