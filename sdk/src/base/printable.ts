/**
 * Text of others (names in files, messages of peers) on a terminal or in a log: what would move the cursor, hide text or make a line look
 * like another program's is shown as an escape.
 */

/** Control characters, separators of lines, and marks that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
/** A colour: the only sequence that this project prints. Not 8, which hides what follows. */
const COLOUR_OR_UNPRINTABLE = new RegExp(
  `\\x1b\\[(?:(?!8[;m])\\d{1,3};)*(?!8m)\\d{1,3}m|${UNPRINTABLE.source}`,
  'gu',
);

/** One message: its further lines are indented, so that none looks like a message. */
export function printable(message: string): string {
  return message.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return '\n  ';
    return character === '\t' ? character : escaped(character);
  });
}

/** What a file says (a name, a value, a path) inside a line of our own: it cannot end the line, colour it or drive the terminal. */
export function onOneLine(text: string): string {
  return /^[ -~]*$/.test(text) ? text : text.replace(UNPRINTABLE, escaped);
}

/** Output with lines, tables and colours of our own. */
export function printableOutput(output: string): string {
  return output.replace(COLOUR_OR_UNPRINTABLE, (found) =>
    found.length > 1 || found === '\n' || found === '\t' ? found : escaped(found),
  );
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
