/** The program that a core ran: names of its functions. */
export { ElfSymbols, type FunctionSymbol } from './elf.js';
