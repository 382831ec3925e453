/** Colours that can be read and told apart, also by people who see few of them. */
import { describe, expect, it } from 'vitest';
import { blend } from '../drawing/raster.js';
import { contrast, PALETTES, pixelOf, rgbOf, THEMES, type ThemeName, themeOf } from './palette.js';

const themes = Object.keys(THEMES) as ThemeName[];

/** Machado, Oliveira, Fernandes 2009, severity 1. */
const DEFICIENCIES = {
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
} as const;

type Rgb = [number, number, number];
const linear = (colour: string): Rgb =>
  rgbOf(colour).map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4)) as Rgb;
const seen = (matrix: readonly number[], [r, g, b]: Rgb): Rgb =>
  [0, 1, 2].map((row) => matrix[row * 3]! * r + matrix[row * 3 + 1]! * g + matrix[row * 3 + 2]! * b) as Rgb;

/** CIE L*a*b* under D65. */
function lab([r, g, b]: Rgb): Rgb {
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const difference = (a: Rgb, b: Rgb): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

describe.each(themes)('theme %s', (name) => {
  const theme = THEMES[name];

  it('has text that can be read (WCAG AA) on every surface', () => {
    for (const surface of [theme.background, theme.stripe, theme.gutter, theme.selection]) {
      expect(contrast(theme.text, surface)).toBeGreaterThan(7);
    }
    for (const surface of [theme.background, theme.gutter]) {
      expect(contrast(theme.dim, surface)).toBeGreaterThan(4.5);
      for (const mark of [theme.accent, theme.cursor, theme.bookmark])
        expect(contrast(mark, surface)).toBeGreaterThan(4.5);
    }
  });

  describe.each(PALETTES)('with the palette %s', (palette) => {
    const { fills, inBox, plain } = themeOf({ theme: name, palette });

    it('has text in boxes that can be read', () => {
      for (const fill of [...fills, plain]) {
        expect(contrast(inBox, fill)).toBeGreaterThan(name === 'dark' && fill === plain ? 3 : 4.5);
      }
    });

    it.each(Object.entries(DEFICIENCIES))('has neighbouring stages that differ under %s', (_, matrix) => {
      fills.slice(0, -1).forEach((fill, index) => {
        const next = fills[index + 1]!;
        const apart = difference(lab(seen(matrix, linear(fill))), lab(seen(matrix, linear(next))));
        expect(apart, `${fill} and ${next}`).toBeGreaterThan(palette === 'many' ? 10 : 15);
      });
    });
  });

  it('has a palette whose neighbours differ without any colour', () => {
    const { fills } = themeOf({ theme: name, palette: 'lightness' });
    fills.slice(0, -1).forEach((fill, index) => {
      const [a, b] = [lab(linear(fill))[0], lab(linear(fills[index + 1]!))[0]];
      expect(Math.abs(a - b), fill).toBeGreaterThan(14);
    });
  });
});

describe('pixels', () => {
  it('have the order of ImageData', () => {
    const bytes = new Uint8Array(Uint32Array.of(pixelOf('#123456')).buffer);
    expect([...bytes]).toEqual([0x12, 0x34, 0x56, 0xff]);
  });

  it('are mixed channel by channel', () => {
    expect(blend(pixelOf('#000000'), pixelOf('#ff8040'), 0.5)).toBe(pixelOf('#804020'));
  });
});
