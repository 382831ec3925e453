/** gem5's O3PipeView as a library: a reader, independent of µScope. */
export { type Gem5Event, inOrder } from './order.js';
export { parseLine } from './parse.js';
export { Gem5Reader } from './reader.js';
export { type Gem5Summary, summarize } from './summary.js';
export { GEM5_STAGES, type Gem5Instruction, type Gem5Stage } from './types.js';
