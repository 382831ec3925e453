/** The picture as SVG: a part of the drawing worker's script. */
export { boxesOf } from './svg-boxes.js';
export { SvgPaint } from './svg-paint.js';
