/**
 * A flight recorder's ring, as a ring: its segments lie around it in their order, the newest one ends at the write head, and the oldest one
 * follows it, as it is the next to be overwritten. The share of the circle is that of the bytes.
 */
import { bytesText, element, grouped, timeText } from './elements.js';

/** Of sdk/src/cli/view/ring-state.ts. */
interface RingSegment {
  readonly ordinal: number;
  readonly fromPs: number;
  readonly toPs: number;
  readonly bytes: number;
}

export interface ListedRing {
  readonly recording: {
    readonly name: string;
    readonly state: string;
    readonly itemsPerSecond: number;
    readonly warnings: readonly string[];
  };
  /** The oldest first. */
  readonly segments: readonly RingSegment[];
}

const SVG = 'http://www.w3.org/2000/svg';
const SIZE = 180;
const OUTER = 84;
const INNER = 58;
/** Between two segments, radians. */
const GAP = 0.012;
const FULL = 2 * Math.PI;

export function ringFigure(segments: readonly RingSegment[]): HTMLElement {
  const figure = element('figure', '', 'ring');
  const [oldest, newest] = [segments[0], segments.at(-1)];
  if (!oldest || !newest) {
    figure.append(element('p', 'Nothing is kept yet.'));
    return figure;
  }
  const bytes = segments.reduce((sum, one) => sum + one.bytes, 0);
  const about = element('figcaption', '');
  const lines = [
    ['kept', `${timeText(oldest.fromPs)} to ${timeText(newest.toPs)}, ${bytesText(bytes)}`],
    [
      'segments',
      `${grouped(segments.length)}, number ${grouped(oldest.ordinal)} to ${grouped(newest.ordinal)}`,
    ],
    ['overwritten', `${grouped(oldest.ordinal)} segments, all before ${timeText(oldest.fromPs)}`],
  ] as const;
  for (const [name, text] of lines) about.append(element('b', name), element('span', text));
  about.append(
    element(
      'small',
      'A mark keeps a snapshot: a trace of what the ring holds then. The end of the run makes one, too.',
    ),
  );
  figure.append(drawn(segments, bytes), about);
  return figure;
}

function drawn(segments: readonly RingSegment[], bytes: number): SVGElement {
  const svg = svgElement('svg', {
    viewBox: `0 0 ${SIZE} ${SIZE}`,
    width: String(SIZE),
    height: String(SIZE),
    role: 'img',
  });
  svg.setAttribute('aria-label', `${segments.length} segments in a ring`);
  // A segment keeps its place while it is kept: the ring turns only by what is overwritten.
  const before = segments[0]!.ordinal;
  let at = segments.length === 0 ? 0 : (before % segments.length) / segments.length;
  segments.forEach((segment, index) => {
    const share = segment.bytes / bytes;
    const age = (index + 1) / segments.length;
    const path = svgElement('path', {
      d: arc(at * FULL, (at + share) * FULL),
      opacity: (0.25 + 0.75 * age).toFixed(2),
    });
    const title = svgElement('title', {});
    title.textContent = `segment ${segment.ordinal}: ${timeText(segment.fromPs)} to ${timeText(segment.toPs)}, ${bytesText(segment.bytes)}`;
    path.append(title);
    svg.append(path);
    at += share;
  });
  svg.append(head(at * FULL));
  return svg;
}

/** Where the next segment goes. */
function head(angle: number): SVGElement {
  const [x1, y1] = point(angle, INNER - 6);
  const [x2, y2] = point(angle, OUTER + 5);
  return svgElement('line', { class: 'head', x1, y1, x2, y2 });
}

function arc(from: number, to: number): string {
  const end = Math.max(from + 0.002, to - GAP);
  const isLarge = end - from > Math.PI ? 1 : 0;
  const [a, b, c, d] = [point(from, OUTER), point(end, OUTER), point(end, INNER), point(from, INNER)];
  return `M${a} A${OUTER} ${OUTER} 0 ${isLarge} 1 ${b} L${c} A${INNER} ${INNER} 0 ${isLarge} 0 ${d} Z`;
}

/** Clockwise from the top. */
function point(angle: number, radius: number): [string, string] {
  const middle = SIZE / 2;
  return [(middle + radius * Math.sin(angle)).toFixed(2), (middle - radius * Math.cos(angle)).toFixed(2)];
}

function svgElement(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
