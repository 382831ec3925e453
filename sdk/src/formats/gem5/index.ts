/** gem5's O3PipeView as a library: a reader, independent of µScope. */
export { GEM5_STAGES, type Gem5Instruction, Gem5Reader, type Gem5Stage } from './log.js';
export { type Gem5Event, type Gem5Summary, inOrder, summarize } from './order.js';
