/** Every stall reason has a colour, in the same place everywhere. */
import { expect, it } from 'vitest';
import { REASON_COLOURS, reasonPlace, toldApart } from './colours.js';

it('tells as many reasons apart as there are colours; those that are rarer, or without a label, share the last one', () => {
  const labels = Array.from({ length: 40 }, (_, index) => `reason ${index}`);
  const reasons = toldApart(labels);
  expect(reasons).toEqual([...labels.slice(0, 15), 'other']);
  expect(reasons.map((_, place) => REASON_COLOURS[place])).not.toContain(undefined);
  expect(labels.slice(0, 15).map((reason) => reasonPlace(reasons, reason))).toEqual([...Array(15).keys()]);
  expect(reasonPlace(reasons, 'reason 30')).toBe(15);
  expect(reasonPlace(toldApart(['miss']), '7')).toBe(1);
});
