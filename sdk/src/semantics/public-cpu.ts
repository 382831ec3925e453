/** The entry `uscope/cpu`: cores, their instructions one by one and in blocks, and the buffers and counters of a trace. */
export { isCounterStorage } from '../format/types.js';
export * from './blocks/block.js';
export { type CycleOfTick, cyclesOf } from './blocks/cycles.js';
export { blockOf, instructionBlocks } from './blocks/instruction-blocks.js';
export type { BlockOptions, RangeBlockOptions } from './blocks/options.js';
export {
  OPEN_END,
  type SlotIntervalOptions,
  type SlotIntervals,
  slotIntervals,
} from './blocks/slot-intervals.js';
export * from './cpu/index.js';
export { type InstructionOptions, instructions } from './instructions/instructions.js';
export type { PerCycle } from './storages/counter-replay.js';
export type { CounterOptions, CounterPoint, CounterReport } from './storages/counter-work.js';
export { counters } from './storages/counters.js';
export {
  type OccupancyOptions,
  type OccupancyPoint,
  type OccupancyReport,
  occupancy,
} from './storages/occupancy.js';
