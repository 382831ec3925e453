/** Forms that a trace is not shown in at first: a part of the drawing worker's script. */
export { Folded } from './folded.js';
export { Straight } from './straight.js';
