/** Cores in traces with the `cpu` protocol: what they are, what happened in them and how they performed. */
export { analyzePerformance, type PerformanceOptions } from './analysis/analyze.js';
export {
  type ComparedFigure,
  type ComparedTable,
  comparedTables,
  type Figure,
  type FigureRow,
  type FigureTable,
  type FigureUnit,
  figureTables,
  type Remark,
} from './analysis/figures.js';
export {
  INSTRUCTION_CLASSES,
  type InstructionClass,
  InstructionClassifier,
} from './analysis/instruction-class.js';
export type * from './analysis/report.js';
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
export { birthOf, type Numbering } from './numbering.js';
export { type CoreRange, type QueryRange, rangeInPs } from './query-range.js';
export { MAX_MEETINGS, MEETING_AGREES, MEETING_WINDOW, meetingSkips } from './realignment.js';
export { type DisassembleOptions, disassemble, isUnknown } from './riscv/disassemble.js';
export { type CoreStall, firstAt, stalls } from './searches.js';
