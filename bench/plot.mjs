// @ts-check
/**
 * Plots as SVG, readable on light and dark pages. Line plots have a logarithmic horizontal axis and a vertical axis that begins at 0. Bars begin
 * at 0 and have their values printed next to them.
 */

/**
 * @typedef {object} Point
 * @property {number} x above 0
 * @property {number} y
 * @property {number} [min] The least and the greatest run.
 * @property {number} [max]
 */
/** @typedef {{title: string, x: string, y: string, lines: {name: string, points: Point[]}[]}} Plot */

const WIDTH = 640;
const HEIGHT = 320;
const MARGIN = { left: 56, right: 16, top: 56, bottom: 44 };
const COLORS = ['#2f6fde', '#d9622b', '#2e9e6b', '#9b59c9'];
const TICKS = 5;

/** @param {Plot} plot @returns {string} */
export function renderPlot({ title, x, y, lines }) {
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) throw new Error(`the plot "${title}" has no points`);
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const top = niceTop(Math.max(...points.map((point) => point.max ?? point.y)));
  const scale = {
    x: logScale(xs[0], xs[xs.length - 1]),
    y: (/** @type {number} */ value) =>
      HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom),
  };
  const parts = [
    text(MARGIN.left, 22, title, 'font-size="15" font-weight="600"'),
    ...legend(lines.map(({ name }) => name)),
    ...yAxis(top, scale.y),
    ...xs.map((value) =>
      text(scale.x(value), HEIGHT - MARGIN.bottom + 18, shortNumber(value), 'text-anchor="middle"'),
    ),
    text((WIDTH + MARGIN.left) / 2, HEIGHT - 6, x, 'text-anchor="middle"'),
    text(MARGIN.left - 8, MARGIN.top - 8, y, 'text-anchor="end"'),
    ...lines.flatMap((line, i) => curve(line.points, scale, COLORS[i % COLORS.length])),
  ];
  return document(title, HEIGHT, parts);
}

/** @typedef {{title: string, bars: {name: string, value: number, shown: string}[]}} Bars */

const BAR = { left: 150, right: 90, top: 40, step: 30, height: 18 };

/** @param {Bars} plot @returns {string} */
export function renderBars({ title, bars }) {
  if (bars.length === 0) throw new Error(`the plot "${title}" has no bars`);
  const top = Math.max(...bars.map(({ value }) => value));
  const widest = WIDTH - BAR.left - BAR.right;
  const parts = bars.map(({ name, value, shown }, i) => {
    const at = BAR.top + i * BAR.step;
    const width = Math.max((value / top) * widest, 1);
    return [
      text(BAR.left - 8, at + 13, name, 'text-anchor="end"'),
      `<rect x="${BAR.left}" y="${at}" width="${fixed(width)}" height="${BAR.height}" fill="${COLORS[0]}"/>`,
      text(BAR.left + width + 6, at + 13, shown, ''),
    ].join('');
  });
  const heading = text(BAR.left, 22, title, 'font-size="15" font-weight="600"');
  return document(title, BAR.top + bars.length * BAR.step + 8, [heading, ...parts]);
}

/** @param {string} title @param {number} height @param {readonly string[]} parts */
function document(title, height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    '<style>text{fill:#333}.grid{stroke:#8884}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

/** @param {number} least @param {number} greatest @returns {(x: number) => number} */
function logScale(least, greatest) {
  const span = Math.log(greatest / least) || 1;
  const inset = 20;
  const width = WIDTH - MARGIN.left - MARGIN.right - 2 * inset;
  return (x) => MARGIN.left + inset + (Math.log(x / least) / span) * width;
}

/** The next of 1, 2, 5, 10, … at which the axis may end. @param {number} value */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** @param {number} top @param {(y: number) => number} scale */
function yAxis(top, scale) {
  return Array.from({ length: TICKS + 1 }, (_, i) => {
    const value = (top * i) / TICKS;
    const at = scale(value);
    const label = text(MARGIN.left - 8, at + 4, shortNumber(value), 'text-anchor="end"');
    return `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${fixed(at)}" y2="${fixed(at)}"/>${label}`;
  });
}

/** @param {readonly string[]} names */
function legend(names) {
  return names.map((name, i) => {
    const at = MARGIN.left + i * 150;
    return `<rect x="${at}" y="31" width="14" height="4" fill="${COLORS[i % COLORS.length]}"/>${text(at + 20, 38, name, '')}`;
  });
}

/**
 * @param {readonly Point[]} points
 * @param {{x: (x: number) => number, y: (y: number) => number}} scale
 * @param {string} color
 */
function curve(points, scale, color) {
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const at = sorted.map(({ x, y }) => `${fixed(scale.x(x))},${fixed(scale.y(y))}`);
  return [
    `<polyline fill="none" stroke="${color}" stroke-width="2" points="${at.join(' ')}"/>`,
    ...sorted.map(({ x, y, min = y, max = y }) => {
      const [column, row] = [fixed(scale.x(x)), fixed(scale.y(y))];
      const range = `<line x1="${column}" x2="${column}" y1="${fixed(scale.y(min))}" y2="${fixed(scale.y(max))}" stroke="${color}" stroke-opacity=".5"/>`;
      return `${range}<circle cx="${column}" cy="${row}" r="3" fill="${color}"/>`;
    }),
  ];
}

/** @param {number} x @param {number} y @param {string} content @param {string} attributes */
function text(x, y, content, attributes) {
  return `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${escapeXml(content)}</text>`;
}

/** @param {number} value */
const fixed = (value) => value.toFixed(1);

/** 10k, 2.5M. @param {number} value */
function shortNumber(value) {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toPrecision(3))}k` : String(Number(value.toPrecision(3)));
}

/** @param {string} content */
const escapeXml = (content) => content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
