/** A picture as SVG: the same pixels as rectangles, and text as text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boxesOf, colourOf } from './svg-boxes.js';
import { type Measure, SvgPaint } from './svg-paint.js';

/** Fills what the rectangles of the paths say. */
function drawn(svg: string, width: number, height: number): string[] {
  const ground = /<rect [^>]*fill="(#\w+)"/.exec(svg)![1]!;
  const pixels = new Array<string>(width * height).fill(ground);
  for (const [, fill, path] of svg.matchAll(/<path fill="(#\w+)" d="([^"]*)"/g)) {
    for (const [, x, y, w, h] of path!.matchAll(/M(\d+) (\d+)h(\d+)v(\d+)h-\d+z/g)) {
      for (let row = Number(y); row < Number(y) + Number(h); row++)
        pixels.fill(fill!, row * width + Number(x), row * width + Number(x) + Number(w));
    }
  }
  return pixels;
}

describe('boxes', () => {
  it('cover the picture as its pixels do', () => {
    const picture = fc
      .record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) })
      .chain(({ width, height }) =>
        fc.record({
          width: fc.constant(width),
          height: fc.constant(height),
          colours: fc.array(fc.nat(3), { minLength: width * height, maxLength: width * height }),
        }),
      );
    fc.assert(
      fc.property(picture, ({ width, height, colours }) => {
        const pixels = Uint32Array.from(colours, (colour) => (0xff000000 | (colour * 0x10203)) >>> 0);
        expect(drawn(boxesOf(pixels, width, height), width, height)).toEqual([...pixels].map(colourOf));
      }),
    );
  });

  it('remain one rectangle each', () => {
    const pixels = new Uint32Array(40 * 30).fill(0xff101010);
    for (let y = 5; y < 15; y++) pixels.fill(0xff0000ff, y * 40 + 3, y * 40 + 20);
    const svg = boxesOf(pixels, 40, 30);
    expect(svg).toContain('<path fill="#ff0000" d="M3 5h17v10h-17z"/>');
    expect(svg.match(/M/g)).toHaveLength(1);
  });
});

describe('text and lines', () => {
  const measure: Measure = {
    font: '',
    textBaseline: 'alphabetic',
    measureText(text: string) {
      const ascent = this.textBaseline === 'middle' ? 6 : 10;
      return { width: text.length * 7, fontBoundingBoxAscent: ascent } as TextMetrics;
    },
  };
  const paint = (use: (paint: SvgPaint) => void): string => {
    const made = new SvgPaint(measure);
    use(made);
    return made.finish();
  };

  it('are elements with the style they were painted with', () => {
    const svg = paint((one) => {
      one.font = '600 11px system-ui, "DejaVu Sans"';
      one.fillStyle = '#abcdef';
      one.textBaseline = 'middle';
      one.textAlign = 'right';
      one.fillText('lw a0,0(sp)', 10, 20);
    });
    expect(svg).toContain('x="10" y="24" text-anchor="end"');
    expect(svg).toContain(
      'font-weight="600" font-size="11" font-family="system-ui, &quot;DejaVu Sans&quot;"',
    );
    expect(svg).toContain('fill="#abcdef">lw a0,0(sp)</text>');
  });

  it('are never markup, whatever a trace has in its texts', () => {
    const svg = paint((one) => one.fillText('<script>"a"&b\u0000\ud800</script>', 0, 0));
    expect(svg).toContain('>&lt;script&gt;&quot;a&quot;&amp;b\ufffd\ufffd&lt;/script&gt;</text>');
  });

  it('are clipped to the innermost of boxes, until it is restored', () => {
    const svg = paint((one) => {
      const clip = (x: number, width: number): void => {
        one.beginPath();
        one.rect(x, 0, width, 10);
        one.clip();
      };
      one.save();
      clip(0, 10);
      one.save();
      clip(5, 20);
      one.fillRect(1, 2, 3, 4);
      one.restore();
      one.fillRect(5, 6, 7, 8);
      one.restore();
      one.fillRect(9, 9, 1, 1);
    });
    expect(svg).toContain('<clipPath id="c0"><rect x="5" y="0" width="5" height="10"/></clipPath>');
    expect(svg).toContain('<clipPath id="c1"><rect x="0" y="0" width="10" height="10"/></clipPath>');
    expect(svg).toMatch(/x="1" y="2"[^>]*clip-path="url\(#c0\)"/);
    expect(svg).toMatch(/x="5" y="6"[^>]*clip-path="url\(#c1\)"/);
    expect(svg).toMatch(/<rect x="9" y="9" width="1" height="1" fill="black"\/>/);
  });

  it('keep curves, circles, dashes and transparency', () => {
    const svg = paint((one) => {
      one.globalAlpha = 0.5;
      one.strokeStyle = '#112233';
      one.lineWidth = 2;
      one.setLineDash([3, 2]);
      one.beginPath();
      one.moveTo(0, 0);
      one.bezierCurveTo(1, 1, 2, 2, 3, 3);
      one.stroke();
      one.beginPath();
      one.arc(10, 10, 2, 0, Math.PI * 2);
      one.fill();
    });
    expect(svg).toContain(
      '<path d="M0 0C1 1 2 2 3 3" fill="none" stroke="#112233" stroke-width="2" stroke-dasharray="3 2" stroke-opacity="0.5"/>',
    );
    expect(svg).toContain('M12 10A2 2 0 0 1 8 10A2 2 0 0 1 12 10');
  });

  it('refuses to clip to what is not a rectangle', () => {
    expect(() =>
      paint((one) => {
        one.beginPath();
        one.moveTo(0, 0);
        one.clip();
      }),
    ).toThrow('rectangle');
  });
});
