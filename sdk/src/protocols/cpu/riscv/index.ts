/** RISC-V machine code as text. */
export { csrName } from './csr-names.js';
export { type DisassembleOptions, disassemble, instructionLength, xlenOfIsa } from './disassemble.js';
export type { Xlen } from './encodings.js';
export { floatRegisterName, registerName } from './operands.js';
