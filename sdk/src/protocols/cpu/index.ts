/** Meaning of traces with the `cpu` protocol. */
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
  requireEntities,
  requirePeriod,
} from './cores.js';
export {
  type CoreRange,
  type CoreStall,
  firstAt,
  type InstructionOptions,
  instructions,
  rangeInPs,
  stalls,
} from './instructions.js';
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
export { birthOf, type Numbering } from './numbering.js';
export { createCpuSummarizer, isCounterStorage, type SummarizerLimits } from './summarizer.js';
