/**
 * Finds the place from which two streams of retired instructions continue alike after a difference: the fewest instructions skipped after which enough of them agree.
 * `uscope diff --by retired` and the viewer of two runs follow the same rule.
 */

/** Instructions skipped in both streams together, at most. */
export const MEETING_WINDOW = 256;
/** Instructions that must then agree. */
export const MEETING_AGREES = 4;
/** Differences after which two runs count as having nothing to do with each other any more. */
export const MAX_MEETINGS = 10_000;

/**
 * Numbers of instructions to skip in the one and the other stream, the fewest first. Of equally many the balanced way comes first: an instruction
 * that differs is likelier than several too many on one side.
 */
export function* meetingSkips(): Generator<readonly [a: number, b: number]> {
  for (let skipped = 1; skipped <= MEETING_WINDOW; skipped++) {
    const middle = skipped >>> 1;
    yield [middle, skipped - middle];
    for (let away = 1; away <= skipped - middle; away++) {
      if (away <= middle) yield [middle - away, skipped - middle + away];
      yield [middle + away, skipped - middle - away];
    }
  }
}
