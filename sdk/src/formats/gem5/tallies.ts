/** What the report says of a log of gem5. */
import type { ConversionReport } from '../common/report.js';
import { UNKNOWN_FLUSH } from '../pipeline/shape.js';

export function talliesOf(report: ConversionReport) {
  return {
    begun: report.kept('instructions'),
    stages: report.kept('stages', 'stage_transition'),
    labels: report.kept('texts', 'annotate'),
    retired: report.kept('retired instructions', 'CLEAR and committed_insns'),
    dependencies: report.kept('dependencies', 'dependency'),
    addresses: report.kept('addresses of loads and stores', 'mem_load and mem_store'),
    memoryDone: report.kept('completions of memory accesses', 'annotate'),
    squashTicks: report.kept('times of squashes', 'when the last unit squashed the instruction'),
    flushed: report.approximated(
      'flushed instructions',
      `flush; the log gives no reason, so it is "${UNKNOWN_FLUSH}"`,
    ),
    lastStages: report.approximated('times of squashes', 'the log has none: when the last stage was entered'),
    storeTicks: report.approximated('completion of stores', 'an annotation: it comes after the end'),
    readyValues: report.approximated(
      'dependencies on instructions that had ended',
      'none: the value was there already',
    ),
    anyCore: report.approximated(
      'instructions of an unknown CPU',
      'in the first core: no line of theirs names another one',
    ),
  };
}
