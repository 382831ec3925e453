/** Where a page finds what is known of the program. */

export const PROGRAM_PATH = '/program.elf';
export const LINES_PATH = '/lines.json';
