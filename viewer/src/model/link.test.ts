/** The URL is the view. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLink, parseLink } from './link.js';

const number = fc.double({ min: -1e12, max: 1e12, noNaN: true }).map((value) => value + 0);
const views = fc.record({
  x: number,
  y: number,
  scale: fc.double({ min: 1e-6, max: 256, noNaN: true }),
  aspect: fc.double({ min: 1e-3, max: 64, noNaN: true }),
});
const links = fc.record({
  view: fc.option(views),
  selected: fc.option(fc.nat()),
  at: fc.constant(null),
  core: fc.option(fc.constantFrom('core0', 'soc/tile1/core0', 'a&b=c#d', 'µ 1')),
  settings: fc.record({ theme: fc.constantFrom('dark', 'light'), colour: fc.constantFrom('stage', 'stall') }),
  bookmarks: fc.dictionary(fc.constantFrom('0', '3', '9'), views, { maxKeys: 3 }).map((all) => ({ ...all })),
});

describe('a link', () => {
  it('gives back what it was made of', () => {
    fc.assert(
      fc.property(links, (link) => {
        expect(parseLink(`#${formatLink(link)}`)).toEqual(link);
      }),
    );
  });

  it.each([
    'view=1,2,3',
    'view=1,2,0,1',
    'view=1,2,1e9,1',
    'view=a,b,c,d',
    'row=-3',
    'row=x',
    'at=',
    '%E0%A4%A',
  ])('ignores what is wrong: %s', (hash) => {
    expect(parseLink(`#${hash}`)).toMatchObject({ view: null, selected: null, at: null });
  });

  it('takes a cycle as people write it', () => {
    expect(parseLink('#at=20,608').at).toBe(20_608);
  });
});
