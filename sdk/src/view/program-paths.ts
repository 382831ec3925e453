/** The paths of a page that answer about the program. */

export const PROGRAM_PATH = '/program.elf';
export const LINES_PATH = '/lines.json';

/** The same relative to the page. */
export const PROGRAM_PLACES = { elf: PROGRAM_PATH.slice(1), lines: LINES_PATH.slice(1) } as const;
