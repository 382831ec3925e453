/** Meaning of traces with the `cpu` protocol. */

export * from '../blocks/block.js';
export { type CycleOfTick, cyclesOf } from '../blocks/cycles.js';
export { blockOf, instructionBlocks } from '../blocks/instruction-blocks.js';
export type { BlockOptions, RangeBlockOptions } from '../blocks/options.js';
export {
  OPEN_END,
  type SlotIntervalOptions,
  type SlotIntervals,
  slotIntervals,
} from '../blocks/slot-intervals.js';
export { type InstructionOptions, instructions } from '../instructions/instructions.js';
export { analyzePerformance, type PerformanceOptions } from './analysis/index.js';
export {
  INSTRUCTION_CLASSES,
  type InstructionClass,
  InstructionClassifier,
} from './analysis/instruction-class.js';
export type * from './analysis/report.js';
export { type CoreRange, rangeInPs } from './core-range.js';
export {
  type CoreEntities,
  type CoreEvent,
  type CoreEventName,
  CPU_PROTOCOL,
  type CpuCore,
  cycleOf,
  type EventField,
  findCore,
  findCores,
  NO_STAGE,
  NO_STAGE_LABEL,
  requireEntities,
  requirePeriod,
} from './cores.js';
export type { PerCycle } from './counter-replay.js';
export { isCounterStorage } from './counter-storage.js';
export type { CounterOptions, CounterPoint, CounterReport } from './counter-work.js';
export { counters } from './counters.js';
export { annotatedName, instructionText, withLineBreaks } from './instruction-text.js';
export {
  type Annotation,
  type Dependency,
  type Instruction,
  InstructionEnd,
  type InstructionStall,
  MAX_ENTRIES,
  type StageEntry,
  type Trap,
} from './lifecycle.js';
export { MAX_MEETINGS, MEETING_AGREES, MEETING_WINDOW, meetingSkips } from './meeting.js';
export { birthOf, type Numbering } from './numbering.js';
export { type OccupancyOptions, type OccupancyPoint, type OccupancyReport, occupancy } from './occupancy.js';
export type { QueryRange } from './query-range.js';
export { type DisassembleOptions, disassemble, isUnknown } from './riscv/index.js';
export { type CoreStall, firstAt, stalls } from './searches.js';
export { createCpuSummarizer, type SummarizerLimits } from './summarizer.js';
