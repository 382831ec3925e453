/** Colours of text in a terminal, as parameters of the terminal's SGR sequence. */

import { onOneLine } from './printable.js';

export type Style = string;

export const BOLD: Style = '1';
export const DIM: Style = '2';
export const RED: Style = '1;31';
export const GREEN: Style = '32';
export const YELLOW: Style = '33';

const STAGE_COLOURS = ['36', '34', '33', '35', '32', '96', '94', '93', '95', '92'];

/** Colour of a stage; of a held one less bright. */
export function stageStyle(stage: number, isHeld = false): Style {
  if (stage < 0) return DIM;
  const colour = STAGE_COLOURS[stage % STAGE_COLOURS.length];
  return isHeld ? `2;${colour}` : `1;${colour}`;
}

/** @param text part of a line */
export function styled(style: Style, text: string, colour: boolean): string {
  const line = onOneLine(text);
  return colour && line !== '' ? `\x1b[${style}m${line}\x1b[0m` : line;
}
