/** `uscope doctor`: what is implausible in a trace, and the likely cause in its tracer. */
import type { Command } from 'commander';
import { onOneLine } from '../../base/printable.js';
import { type DoctorFinding, type DoctorReport, examineTrace } from '../../tools/doctor/index.js';
import { ExitCode, io, paint, printJson } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';
import { withTrace } from '../common/trace-file.js';

export function register(command: Command): void {
  command
    .description(
      'Reads the whole trace and reports what a sound tracer does not record: a clock that does not fit, loads that are not loads, stages that never end, ids that are never cleared, counters that do not add up, a program that jumps without a jump. For each it names the likely cause in the tracer. ' +
        'Exit status 0: nothing implausible, 1: findings.',
    )
    .argument('<file>', 'trace file')
    .option('--json', 'one JSON document')
    .action((file: string, options: { readonly json?: boolean }) =>
      withTrace(file, async (trace) => {
        const report = await withProgress('doctor', (update) => examineTrace(trace, update), {
          streams: false,
        });
        if (options.json) printJson(reportJson(file, report));
        else printText(file, report);
        if (report.findings.length > 0) process.exitCode = ExitCode.FAILED;
      }),
    );
}

function printText(file: string, { findings, leftOut }: DoctorReport): void {
  for (const { kind, core, detail, firstTimePs, cause } of findings) {
    const place = firstTimePs === null ? '' : ` (first at ${firstTimePs} ps)`;
    io.out(
      `${paint('yellow', kind.padEnd(8))} ${onOneLine(`${core === null ? '' : `${core}: `}${detail}${place}`)}\n`,
    );
    io.out(`         likely: ${onOneLine(cause)}\n`);
  }
  for (const reason of leftOut) io.out(`${paint('dim', 'note')}     ${onOneLine(reason)}\n`);
  const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`;
  io.out(`${onOneLine(file)}: ${findings.length === 0 ? paint('green', 'nothing implausible') : count}\n`);
}

function reportJson(file: string, { cores, findings, leftOut }: DoctorReport) {
  const one = ({ firstTimePs, ...rest }: DoctorFinding) => ({
    ...rest,
    firstTimePs: firstTimePs === null ? null : String(firstTimePs),
  });
  return { file, ok: findings.length === 0, cores, findings: findings.map(one), leftOut };
}
