/** What the report says of a log of commands. Kinds that not every log has come in the order in which they first occur. */
import type { ConversionReport, Tally } from '../common/report.js';
import { UNKNOWN_FLUSH } from './shape.js';

export class SinkTallies {
  readonly begun: Tally;
  readonly stages: Tally;
  readonly retired: Tally;
  readonly flushed: Tally;
  readonly dependencies: Tally;
  readonly lost: Tally;
  private readonly byKind: (Tally | undefined)[] = [];
  private starts: Tally | undefined;
  private ends: Tally | undefined;
  private late: Tally | undefined;

  constructor(private readonly report: ConversionReport) {
    this.begun = report.kept('instructions');
    this.stages = report.kept('stages', 'stage_transition');
    this.retired = report.kept('retired instructions', 'CLEAR and committed_insns');
    this.flushed = report.approximated(
      'flushed instructions',
      `flush; the log gives no reason, so it is "${UNKNOWN_FLUSH}"`,
    );
    this.dependencies = report.kept('dependencies', 'dependency');
    this.lost = report.dropped(
      'records about instructions that have ended or never began',
      'nothing they could be said of',
    );
  }

  labels(kind: number): Tally {
    this.byKind[kind] ??= this.report.kept(`labels of kind ${kind}`, 'annotate');
    return this.byKind[kind];
  }

  get laneStarts(): Tally {
    this.starts ??= this.report.kept('stages of other lanes', 'lane_start');
    return this.starts;
  }

  get laneEnds(): Tally {
    this.ends ??= this.report.kept('explicit ends of stages', 'lane_end');
    return this.ends;
  }

  get lateDependencies(): Tally {
    this.late ??= this.report.approximated(
      'dependencies on instructions that have ended',
      'late_dependency, with the numbers of the log',
    );
    return this.late;
  }

  /** Those at the end of the log. */
  get inFlight(): Tally {
    return this.report.kept('instructions in flight at the end');
  }
}
