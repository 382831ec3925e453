/** What is implausible in a trace, with the likely cause in its tracer. It reads the trace once. */
import { appendAll } from '../../base/arrays.js';
import { checkProtocol, findingText, isContradiction, type ProtocolFinding } from '../../protocols/index.js';
import type { Trace } from '../../reader/index.js';
import { FrameTimes, type PeriodMismatch, sampledClock } from '../../reader/queries/frame-times.js';
import { findCores } from '../../semantics/cpu/cores.js';
import { CAUSES } from './causes.js';
import { CoreExamination } from './core.js';
import type { DoctorFinding } from './finding.js';

export type { DoctorFinding, FindingKind } from './finding.js';

export interface DoctorReport {
  readonly cores: readonly string[];
  readonly findings: readonly DoctorFinding[];
  /** Why some examinations were left out, and what cannot be shown; empty: nothing. */
  readonly leftOut: readonly string[];
}

export async function examineTrace(
  trace: Trace,
  onProgress: (share: number) => void = () => {},
): Promise<DoctorReport> {
  const cores = findCores(trace);
  const examinations = cores.map((core) => new CoreExamination(core, trace.schema));
  const [clock, ...others] = trace.schema.clocks;
  const periodPs = BigInt(cores[0]?.periodPs ?? clock?.periodPs ?? 0);
  const times = new FrameTimes(periodPs);
  const total = Number(trace.totalTimePs) || 1;
  await trace.scan(
    {},
    {
      frame: ({ timePs }) => {
        times.frame(timePs);
        for (const one of examinations) one.frame(timePs);
        onProgress(Math.min(1, Number(timePs) / total));
      },
      op: (cursor) => {
        for (const one of examinations) one.op(cursor);
      },
      event: (cursor) => {
        for (const one of examinations) one.event(cursor);
      },
    },
  );
  const leftOut: string[] = [];
  if (!trace.isComplete) leftOut.push('the trace is not complete: what never ends is not looked for');
  if (others.length > 0) leftOut.push('the trace has several clocks: whether they fit is not looked at');
  if (cores.length === 0) leftOut.push('the trace has no core: instructions and counters are not looked at');
  const contract = checkProtocol(trace.schema, trace.dut);
  appendAll(leftOut, contract.filter((one) => !isContradiction(one)).map(findingText));
  const sampled = sampledClock(trace.schema);
  const findings = [
    ...contract.filter(isContradiction).map(contractFinding),
    ...(sampled ? clockFindings(times.mismatch(sampled.name)) : []),
    ...examinations.flatMap((one) => one.findings(trace.isComplete, times.cycles)),
  ];
  return { cores: cores.map(({ name }) => name), findings, leftOut };
}

function contractFinding(finding: ProtocolFinding): DoctorFinding {
  return {
    kind: 'protocol',
    core: null,
    detail: findingText(finding),
    count: 1,
    firstTimePs: null,
    cause: CAUSES.protocol,
  };
}

function clockFindings(mismatch: PeriodMismatch | null): DoctorFinding[] {
  return mismatch ? [{ kind: 'clock', core: null, count: 1, ...mismatch }] : [];
}
