/** The URL is the view: what is written is read back, and nothing else is taken. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatLink,
  joinFields,
  LINK_VERSION,
  type LinkPart,
  parseLink,
  readPart,
  splitFields,
} from './link.js';
import {
  bookmarksPart,
  choicePart,
  countPart,
  cursorsPart,
  numberPart,
  rangePart,
  textPart,
  viewPart,
} from './link-parts.js';
import { addCursor, type Bookmark, moveCursor, NO_PLACES, putBookmark, rangeBetween } from './places.js';

const number = fc.double({ min: -1e12, max: 1e12, noNaN: true }).map((value) => value + 0);
const cycle = fc.nat(2 ** 40);
const view = fc.record({
  x: number,
  y: number,
  scale: fc.double({ min: 1e-6, max: 256, noNaN: true }),
  aspect: fc.double({ min: 1e-3, max: 64, noNaN: true }),
});
const cursors = fc.array(fc.tuple(cycle, cycle), { minLength: 1, maxLength: 20 }).map((all) => {
  let places = NO_PLACES;
  for (const [at, to] of all) {
    places = addCursor(places, at);
    if (to % 3 === 0) places = moveCursor(places, places.chosen!, to);
  }
  return { cursors: places.cursors, chosen: all[0]![0] % 2 === 0 ? places.chosen : null };
});
const words = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: 'grapheme', maxLength: 20 }));
const bookmark: fc.Arbitrary<Bookmark> = fc.record({
  id: fc.nat(300).map(String),
  name: words,
  note: words,
  cycle,
  view,
  selected: fc.option(fc.nat()),
});
const bookmarks = fc
  .array(bookmark, { minLength: 1, maxLength: 6 })
  .map((all) => all.reduce(putBookmark, NO_PLACES).bookmarks);
const range = fc.tuple(cycle, cycle).map(([a, b]) => rangeBetween(a, b));

const parts: readonly (readonly [LinkPart<never>, fc.Arbitrary<unknown>])[] = [
  [viewPart, view],
  [countPart('row'), fc.nat()],
  [cursorsPart, cursors],
  [rangePart, range],
  [bookmarksPart, bookmarks],
  [textPart('find', 500), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })],
  [textPart('core', 500), fc.constantFrom('core0', 'soc/tile1/core0', 'a&b=c#d', 'µ 1', '100%', '%41', '+')],
  [choicePart('theme', ['dark', 'light']), fc.constantFrom('dark', 'light')],
  [numberPart('labels', 60, 900), fc.integer({ min: 60, max: 900 })],
] as unknown as (readonly [LinkPart<never>, fc.Arbitrary<unknown>])[];

describe('a link', () => {
  it('gives back what it was made of', () => {
    fc.assert(
      fc.property(fc.tuple(...parts.map(([, values]) => values)), (values) => {
        const link = formatLink(
          parts.map(([part], index) => [part.key, part.format(values[index] as never)]),
        );
        // As an address bar gives it back.
        const content = parseLink(new URL(`http://a/#${link}`).hash);
        expect(content.version).toBe(LINK_VERSION);
        for (const [index, [part]] of parts.entries()) {
          expect(readPart(content, part), part.key).toEqual(values[index]);
        }
      }),
    );
  });

  it('is short', () => {
    const three = [100, 2000, 30_000].reduce(addCursor, NO_PLACES);
    const link = formatLink([
      ['view', viewPart.format({ x: 1234.5, y: 600, scale: 24, aspect: 0.75 })],
      ['c', cursorsPart.format(three)],
      ['range', rangePart.format({ from: 100, to: 2001 })],
      ['core', ['soc/core 0']],
    ]);
    expect(link).toBe('v=1&view=1234.5,600,24,0.75&c=100,2000,30000*&range=100-2000&core=soc/core+0');
  });

  it.each([
    [
      'view',
      viewPart,
      ['1,2,3', '1,2,0,1', '1,2,1e9,1', 'a,b,c,d', '1,2,3,4,5', ',,,', '1,2,Infinity,1', '0x1,2,3,4'],
    ],
    ['row', countPart('row'), ['-3', 'x', '', '1e5', '9'.repeat(20), ',']],
    ['c', cursorsPart, ['', '-1', 'x', '1.0', '99999999999999999', '1*2', '.5']],
    ['range', rangePart, ['', '5', '9-3', '-1-5', 'a-b', '1-', '1-2-x']],
    ['b', bookmarksPart, ['', '3', 'x;1,2,3,4;5', '3;1,2,3;5', '3;1,2,3,4;', '-1;1,2,3,4;5']],
    ['theme', choicePart('theme', ['dark', 'light']), ['', 'toString', 'Dark']],
    ['labels', numberPart('labels', 60, 900), ['', '59', '901', 'NaN', '1e999']],
    ['core', textPart('core', 10), ['', 'x'.repeat(11)]],
  ] as readonly (readonly [string, LinkPart<unknown>, readonly string[]])[])(
    'ignores what is wrong: %s',
    (key, part, texts) => {
      for (const text of texts) {
        const content = parseLink(`#v=1&${key}=${encodeURIComponent(text)}`);
        expect(readPart(content, part), text).toBeNull();
      }
    },
  );

  it('takes anything without failing, and only what is bounded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (hash) => {
        const content = parseLink(`#${hash}`);
        for (const [part] of parts) readPart(content, part);
      }),
    );
    expect(parseLink(`#${'view=1,2,3,4&'.repeat(100_000)}`)).toMatchObject({
      version: 0,
      problem: expect.stringContaining('262,144'),
    });
    const many = parseLink(`#c=${Array.from({ length: 5000 }, (_, index) => index).join(',')}`);
    expect(readPart(many, cursorsPart)!.cursors.length).toBe(256);
    expect(readPart(parseLink('#%E0%A4%A&view=1,2,3,4&__proto__=x&constructor=y'), viewPart)).toEqual({
      x: 1,
      y: 2,
      scale: 3,
      aspect: 4,
    });
    for (const version of ['-1', 'x', '1.5', '']) expect(parseLink(`#v=${version}`).version).toBe(0);
    expect(parseLink('#v=7').version).toBe(7);
  });

  it('takes a cycle as people write it', () => {
    expect(readPart(parseLink('#at=20,608'), countPart('at'))).toBe(20_608);
  });

  it('keeps lone surrogates from breaking it', () => {
    const link = formatLink([['find', textPart('find', 50).format('a\ud800b')]]);
    expect(readPart(parseLink(`#${link}`), textPart('find', 50))).toBe('a\ufffdb');
  });
});

describe('fields', () => {
  it('are what they were joined of', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (fields) => {
        expect(splitFields(joinFields(fields))).toEqual(fields);
      }),
    );
  });
});
