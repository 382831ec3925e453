/** `uscope verify`: everything in a file that can be checked. */
import { type Command, Option } from 'commander';
import { onOneLine } from '../../base/printable.js';
import { openSource } from '../../reader/node.js';
import { type Finding, type VerifyReport, verifyTrace } from '../../tools/verify/index.js';
import { openSidecar, sidecarPath } from '../../trace-index/node/index.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { foreignError } from '../common/foreign-hint.js';
import { bigintAsString, ExitCode, io, paint, printJson } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';
import { sessionJson } from '../common/schema-json.js';

interface VerifyVerbOptions {
  readonly json?: boolean;
  readonly jsonl?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Checks every structure, checksum and cross reference, replays everything and compares each checkpoint with the state replayed, ' +
        'and the index with the one that the frames give: that in the trace, or else in the file beside it. ' +
        'Exit status 0: no error (information and warnings there may be), 1: errors.',
    )
    .argument('<file>', 'trace file or URL, finalized or not')
    .option('--json', 'one JSON document')
    .addOption(new Option('--jsonl', 'one finding per line as JSON, as they are made').conflicts('json'))
    .action((file: string, options: VerifyVerbOptions) => verify(file, options));
}

async function verify(file: string, options: VerifyVerbOptions): Promise<void> {
  const source = await openSource(file);
  const foreign = await foreignError(source, file);
  if (foreign) {
    await source.close?.();
    throw foreign;
  }
  const sidecar = await openSidecar(sidecarPath(file));
  try {
    const report = await withProgress(
      'verify',
      (update) =>
        verifyTrace(source, {
          summarizer: createCpuSummarizer,
          sidecar,
          onProgress: (done, total) => update(total === 0 ? 0 : done / total),
          onFinding: (finding) => tell(finding, options),
        }),
      { streams: !options.json },
    );
    if (options.json) printJson(reportJson(file, report));
    else if (!options.jsonl) printSummary(file, report);
    if (!report.ok) process.exitCode = ExitCode.FAILED;
  } finally {
    await sidecar?.close?.();
    await source.close?.();
  }
}

function tell(finding: Finding, { json, jsonl }: VerifyVerbOptions): void {
  if (json) return;
  if (jsonl) {
    io.out(`${JSON.stringify(finding, bigintAsString)}\n`);
    return;
  }
  const { severity, code, offset, detail } = finding;
  const colour = { error: 'red', warning: 'yellow', info: 'dim' } as const;
  const place = offset === null ? '' : ` offset ${offset}:`;
  io.out(`${paint(colour[severity], severity.padEnd(7))} ${code}:${place} ${onOneLine(detail)}\n`);
}

function printSummary(file: string, report: VerifyReport): void {
  const { counts, untold } = report;
  if (untold > 0) io.out(`${untold} more findings of the same kinds are not listed\n`);
  const verdict = report.ok ? paint('green', 'no errors') : paint('red', plural(counts.error, 'error'));
  const rest = [
    counts.warning && plural(counts.warning, 'warning'),
    counts.info && `${counts.info} for information`,
  ];
  io.out(`${[`${onOneLine(file)}: ${verdict}`, ...rest.filter(Boolean)].join(', ')}\n`);
  const checked = [
    plural(report.segments, 'segment'),
    `${report.checksums} with checksum`,
    plural(report.frames, 'frame'),
    plural(report.items, 'item'),
    plural(report.strings, 'string'),
  ];
  io.out(`checked: ${checked.join(', ')}${report.finalized ? '' : '; not finalized'}\n`);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function reportJson(file: string, report: VerifyReport) {
  const { ok, finalized, session, counts, untold, findings, ...checked } = report;
  return { file, ok, finalized, session: sessionJson(session), counts, checked, findings, untold };
}
