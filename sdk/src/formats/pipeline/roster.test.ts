/** The roster is a map of those in flight, whatever their numbers share. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Roster } from './roster.js';

/** Numbers of which many have one place. */
const id = fc.tuple(fc.nat(3), fc.nat(6)).map(([place, round]) => place + 1024 * round);

it('finds each one, and counts them', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), id)), (steps) => {
      const roster = new Roster<string>();
      const expected = new Map<number, string>();
      let highest = -1;
      for (const [index, [isAdded, one]] of steps.entries()) {
        if (isAdded && !expected.has(one)) {
          roster.add(one, `#${index}`);
          expected.set(one, `#${index}`);
          highest = Math.max(highest, one);
        } else {
          roster.remove(one);
          expected.delete(one);
        }
        expect(roster.size).toBe(expected.size);
        for (const [, known] of steps) expect(roster.get(known)).toBe(expected.get(known));
        expect(roster.isNew(highest)).toBe(false);
        expect(roster.isNew(highest + 1)).toBe(true);
      }
    }),
  );
});
