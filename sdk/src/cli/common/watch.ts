/** `uscope info --watch`: how a trace grows, line by line; on a terminal one line that is drawn again. */
import { onOneLine } from '../../base/printable.js';
import type { Trace } from '../../reader/index.js';
import { describeEnd, type FollowOptions, follow } from './follow.js';
import { bigintAsString, ExitCode, io } from './io.js';
import { sessionJson } from './schema-json.js';
import { shownName } from './trace-file.js';

const CLEAR_LINE = '\r\x1b[K';

/** Until the trace is finalized; sets the exit status. */
export async function watchTrace(
  file: string,
  trace: Trace,
  asJson: boolean,
  options: FollowOptions,
): Promise<void> {
  const redraws = !asJson && io.bar?.sharesStdout === true;
  const show = (): void => {
    if (redraws) io.bar?.write(`${CLEAR_LINE}${line(trace).slice(0, io.bar.columns - 1)}`);
    else io.out(asJson ? `${JSON.stringify(json(trace), bigintAsString)}\n` : `${line(trace)}\n`);
    io.flush();
  };
  show();
  const end = await follow(trace, options, async () => {
    show();
    return true;
  });
  if (redraws) {
    io.bar?.write(CLEAR_LINE);
    io.out(`${line(trace)}\n`);
  }
  if (end === 'finalized') {
    const { text, exitCode } = describeEnd(trace);
    io.err(`uscope: ${text} (${shownName(file)})`);
    process.exitCode = exitCode;
    return;
  }
  const seconds = (options.timeoutMs ?? 0) / 1000;
  io.err(`uscope: nothing new for ${seconds} s and the trace is not finalized (${shownName(file)})`);
  process.exitCode = ExitCode.FAILED;
}

function json(trace: Trace) {
  return {
    totalTimePs: trace.totalTimePs,
    segments: trace.segmentCount,
    complete: trace.isComplete,
    session: sessionJson(trace.session),
  };
}

function line(trace: Trace): string {
  const clocks = trace.schema.clocks.filter(({ periodPs }) => periodPs > 0);
  const cycles = clocks.map(({ name, periodPs }) => `cycle ${trace.totalTimePs / BigInt(periodPs)} ${name}`);
  const parts = [
    `${trace.totalTimePs} ps`,
    ...cycles,
    `${trace.segmentCount} segments`,
    trace.isComplete ? 'complete' : 'not finalized',
  ];
  return onOneLine(parts.join(', '));
}
