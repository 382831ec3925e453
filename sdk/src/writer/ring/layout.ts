/** Names in the spool directory of a flight recorder (docs/how-to/flight-recorder.md). */
import { basename, join } from 'node:path';

/** Trace path without its ending. */
const stemOf = (path: string): string => path.replace(/\.uscope$/, '');

/** The spool directory next to the trace. */
export const spoolDirectory = (path: string): string => `${stemOf(path)}.ring`;

export const triggerPath = (path: string, number: number): string =>
  `${stemOf(path)}.trigger-${number}.uscope`;

/** Whether a file in the trace's directory is a trigger's. */
export function isTriggerName(path: string, name: string): boolean {
  const stem = basename(stemOf(path));
  return (
    name.startsWith(`${stem}.trigger-`) && /^\d+\.uscope$/.test(name.slice(stem.length + '.trigger-'.length))
  );
}

/** File header and preamble: an empty trace, by which the spool describes itself. */
export const headerPath = (directory: string): string => join(directory, 'header.uscope');

/** Strings of segments that are gone. */
export const stringsPath = (directory: string): string => join(directory, 'strings');

/** Where a file is assembled. */
export const assemblyPath = (directory: string, what: string): string => join(directory, `${what}.assembly`);

const ORDINAL_DIGITS = 12;

export function segmentPath(directory: string, ordinal: number): string {
  return join(directory, `${String(ordinal).padStart(ORDINAL_DIGITS, '0')}.segment`);
}

/** null: not a segment's name. */
export function ordinalOf(name: string): number | null {
  const match = /^(\d{12})\.segment$/.exec(name);
  return match ? Number(match[1]) : null;
}

/** Whether the name is one of those above: only they are ours in the directory. */
export function isSpoolName(name: string): boolean {
  return (
    name === 'header.uscope' ||
    name === 'strings' ||
    name === 'strings.new' ||
    name.endsWith('.assembly') ||
    ordinalOf(name) !== null
  );
}
