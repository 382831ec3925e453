/** Who reads what a run or a daemon says may go first: `uscope serve 2>&1 | head`, a log on a full disk. */

let isKept = false;

/** From now on a line that cannot be written to stderr is lost, and ends nothing: recording continues. */
export function outliveLog(): void {
  if (isKept) return;
  isKept = true;
  process.stderr.on('error', () => {});
}
