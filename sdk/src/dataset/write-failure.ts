/** Why files could not be written, for messages. */

/** @param again what to do when there is room: `export again` */
export function writeFailure(error: unknown, again: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return /no space left|ENOSPC|EDQUOT|disk quota/i.test(message)
    ? `the disk is full; free some space and ${again}`
    : (message.split('\n')[0] ?? '');
}
