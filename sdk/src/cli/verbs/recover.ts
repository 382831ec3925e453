/** `uscope recover`: a finalized trace from a damaged one. */

import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { ClientMemory } from '../../bridge/session/client-memory.js';
import { LaneRecords } from '../../bridge/session/lane-records.js';
import type { CompletedFrames, SessionInfo } from '../../format/session-chunk.js';
import {
  type LostTime,
  PREAMBLE_UNTRUSTED,
  type RecordMemory,
  type RecoverReport,
  recoverTrace,
} from '../../tools/recover/index.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import { type Account, accountOf } from '../../writer/index.js';
import { writeAtomically } from '../../writer/output/atomic-file.js';
import { openNodeOutput } from '../../writer/output/output-file.js';
import { lockPath } from '../../writer/output/path-lock.js';
import { headerPath, recoverSpool, type SpoolRecovery } from '../../writer/ring/index.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';

interface RecoverVerbOptions {
  readonly output: string;
  readonly force?: boolean;
  /** A path, or false for --no-memory. */
  readonly memory?: string | boolean;
  readonly keepMemory?: boolean;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Writes a finalized trace with everything that can be saved, and reports what was lost. The input is only read. ' +
        'Exit status 0: nothing was lost, 3: something was, 1: nothing could be saved.',
    )
    .argument('<file>', 'trace file, or NAME.ring of a flight recorder')
    .requiredOption('-o, --output <file>', 'where the recovered trace goes')
    .option('--force', 'replace the output if it exists')
    .option('--memory <file>', "the dead client's shared memory; without it, it is looked for by the session")
    .option('--no-memory', "leave the client's shared memory alone")
    .option('--keep-memory', 'do not remove the memory when its cycles are in the output')
    .option('--json', 'one JSON document')
    .action((file: string, options: RecoverVerbOptions) => recover(file, options));
}

async function recover(file: string, options: RecoverVerbOptions): Promise<void> {
  const isSpool = isDirectory(file);
  // A daemon that writes the trace, or continues with it, has it locked; and none may begin to while it is read.
  const trace = isSpool ? file.replace(/\/+$/, '').replace(/\.ring$/, '.uscope') : file;
  const lock = isThere(file) ? await lockPath(trace, { onlyReads: true }) : null;
  try {
    await (isSpool ? recoverRecorder(file, options) : recoverFile(file, options));
  } finally {
    lock?.release();
  }
}

async function recoverFile(file: string, options: RecoverVerbOptions): Promise<void> {
  const memory = new DeadClient(options.memory);
  try {
    const report = await withProgress('recover', (update) =>
      recoverTrace({
        input: file,
        output: options.output,
        force: options.force,
        summarizer: createCpuSummarizer,
        index: createSegmentIndexer,
        memory: (session) => memory.find(session),
        onProgress: (done, total) => update(total === 0 ? 0 : done / total),
      }),
    );
    const removed = report.memoryProblem === null && !options.keepMemory && memory.remove();
    const problem = report.memoryProblem ?? memory.problem;
    if (options.json) printJson(reportJson(file, report, problem));
    else printText(report, problem, removed);
    const isLoss = !report.complete || problem !== null || isMissing(report);
    if (isLoss) process.exitCode = ExitCode.LOSS;
  } finally {
    memory.close();
  }
}

/** Completed by the client and not in the output, or nobody knows. */
function isMissing({ account }: RecoverReport): boolean {
  return account !== null && account.lost !== 0n;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** What the daemon of a flight recorder left: NAME.ring (docs/how-to/flight-recorder.md), and what its client had not sent. */
async function recoverRecorder(directory: string, options: RecoverVerbOptions): Promise<void> {
  const { output, force } = options;
  const memory = new DeadClient(options.memory);
  try {
    let completed: CompletedFrames | undefined;
    const client = (session: SessionInfo): RecordMemory | null => {
      const found = memory.find(session);
      completed = found?.completed;
      return found;
    };
    const saved = await writeAtomically(
      output,
      { inputs: [], source: headerPath(directory), force },
      (temporary) =>
        recoverSpool(directory, temporary, createCpuSummarizer, createSegmentIndexer, openNodeOutput, client),
    );
    const removed = saved.memoryProblem === null && !options.keepMemory && memory.remove();
    const problem = saved.memoryProblem ?? memory.problem;
    const account = recorderAccount(saved, completed);
    if (options.json) printJson(recorderJson(directory, output, saved, account, problem));
    else printRecorder(output, saved, account, problem, removed);
    const isWhole = saved.damaged === 0 && !saved.isDoubtful && problem === null && account?.lost === 0n;
    if (!isWhole) process.exitCode = ExitCode.LOSS;
  } finally {
    memory.close();
  }
}

/** null: what is damaged cannot be told from what was let go. */
function recorderAccount(
  { frames, framesFromMemory, firstFrame, damaged }: SpoolRecovery,
  completed: CompletedFrames | undefined,
): Account | null {
  if (damaged > 0) return null;
  const nextFrame = firstFrame + frames;
  const accepted = { frames: nextFrame, items: 0n, totalTimePs: 0n };
  return accountOf({
    stats: { frames: nextFrame, firstFrame, accepted },
    completed: completed ?? { frames: nextFrame, isExact: false },
    salvaged: BigInt(framesFromMemory),
  });
}

function recorderJson(
  file: string,
  output: string,
  saved: SpoolRecovery,
  account: Account | null,
  problem: string | null,
) {
  const { segments, frames, firstTimePs, endTimePs, damaged, torn, isDoubtful } = saved;
  return {
    file,
    output,
    complete: damaged === 0 && !isDoubtful,
    saved: { segments, frames, firstTimePs, endTimePs },
    memory: { frames: saved.framesFromMemory, problem },
    damaged,
    torn,
    untrusted: isDoubtful ? PREAMBLE_UNTRUSTED : null,
    account: account && accountJson(account),
  };
}

function printRecorder(
  output: string,
  saved: SpoolRecovery,
  account: Account | null,
  problem: string | null,
  removed: boolean,
): void {
  const { segments, frames, framesFromMemory, firstTimePs, endTimePs, damaged, torn, isDoubtful } = saved;
  io.out(`saved   ${segments} segments, ${frames} frames, ${firstTimePs} to ${endTimePs} ps\n`);
  if (torn > 0) io.out(`dropped ${torn} segments that were never acknowledged as durable\n`);
  if (framesFromMemory > 0) printFromMemory(framesFromMemory, removed);
  if (problem !== null) io.out(`memory  not used: ${onOneLine(problem)}\n`);
  if (isDoubtful) io.out(`doubt   ${PREAMBLE_UNTRUSTED}\n`);
  if (account !== null) printUnknown(account);
  if (damaged > 0) io.out(`lost    ${damaged} damaged segments, and those before them\n`);
  else if (account?.lost)
    io.out(`lost    ${account.lost} cycles that the client completed and that are not in the output\n`);
  else io.out(`lost    ${isDoubtful || account?.lost == null ? 'no segments' : 'nothing'}\n`);
  io.out(`${onOneLine(output)}: finalized\n`);
}

function printFromMemory(frames: number, removed: boolean): void {
  io.out(`        ${frames} of the frames from the client's memory${removed ? ', now removed' : ''}\n`);
}

function printUnknown({ completed, atLeast }: Account): void {
  if (completed === null) io.out(`client  how many cycles it completed is not known: at least ${atLeast}\n`);
}

/** The shared memory of the session's client, if it is there and the client is gone. */
class DeadClient {
  /** Why a memory that is there is not used. */
  problem: string | null = null;
  private memory: ClientMemory | null = null;

  constructor(private readonly wanted: string | boolean | undefined) {}

  find(session: SessionInfo): RecordMemory | null {
    const { wanted } = this;
    if (wanted === false) return null;
    const isNamed = typeof wanted === 'string';
    const memory = isNamed
      ? ClientMemory.openFile(wanted, session.sessionId)
      : ClientMemory.open(session.sessionId);
    if (memory === null) {
      if (!isNamed) return null;
      const detail = 'it cannot be read, is not of this trace, or others than you may read it';
      throw new UscopeError('RECOVER_MEMORY', detail, { file: wanted });
    }
    this.memory = memory;
    if (memory.isAbandoned) return { records: () => recordsOf(memory), completed: completedOf(memory) };
    this.problem = 'its client still runs; recover again when it has ended';
    if (isNamed) throw new UscopeError('RECOVER_MEMORY', this.problem, { file: wanted });
    return null;
  }

  /** What was in it is in the output. */
  remove(): boolean {
    if (!this.memory || this.problem !== null) return false;
    this.memory.remove();
    return true;
  }

  close(): void {
    this.memory?.close();
    this.memory = null;
  }
}

function completedOf(memory: ClientMemory): CompletedFrames {
  const { completed: frames, isExact } = memory.recorded();
  return { frames, isExact };
}

function* recordsOf(memory: ClientMemory): Generator<Uint32Array> {
  const lanes = new LaneRecords();
  for (const { offset, size } of memory.remains()) yield* lanes.unfold(memory.words(offset, size));
}

function reportJson(file: string, report: RecoverReport, memoryProblem: string | null) {
  const { output, complete, saved, framesFromMemory, lost, account, untrusted, findings } = report;
  return {
    file,
    output,
    complete,
    saved,
    memory: { frames: framesFromMemory, problem: memoryProblem },
    lost,
    untrusted,
    account: account && accountJson(account),
    findings,
  };
}

/** Of the client's frames; `accepted` is another word for those that were in the file, which nobody has counted here. */
function accountJson({ completed, atLeast, committed, salvaged, expired, lost }: Account) {
  return { completed, atLeast, committed, salvaged, expired, lost };
}

function printText(report: RecoverReport, problem: string | null, removed: boolean): void {
  for (const { severity, code, offset, detail } of report.findings) {
    io.out(
      `${severity.padEnd(7)} ${code}:${offset === null ? '' : ` offset ${offset}:`} ${onOneLine(detail)}\n`,
    );
  }
  const { saved, lost } = report;
  io.out(
    `saved   ${saved.segments} segments, ${saved.frames} frames, ${saved.items} items, ${saved.strings} strings`,
  );
  io.out(saved.lastTimePs === null ? '\n' : `, ${saved.firstTimePs} to ${saved.lastTimePs} ps\n`);
  if (report.framesFromMemory > 0) printFromMemory(report.framesFromMemory, removed);
  if (problem !== null) io.out(`memory  not used: ${onOneLine(problem)}\n`);
  if (report.untrusted !== null) io.out(`doubt   ${report.untrusted}\n`);
  if (report.account) printUnknown(report.account);
  if (report.account?.completed !== null && isMissing(report) && isNothing(lost)) {
    io.out(
      `lost    ${report.account?.lost} cycles that the client completed and that were not in the file\n`,
    );
  }
  if (report.complete && !isMissing(report)) io.out('lost    nothing\n');
  else if (isNothing(lost) && !isMissing(report)) io.out('lost    no frames\n');
  if (!isNothing(lost)) {
    const frames = lost.isExact ? `${lost.frames}` : `at least ${lost.frames}`;
    io.out(`lost    ${lost.segments} segments, ${frames} frames, ${lost.strings} strings\n`);
    for (const time of lost.times) io.out(`        ${timeText(time)}\n`);
  }
  io.out(`${onOneLine(report.output)}: finalized and verified\n`);
}

function isNothing({ segments, frames, strings, isExact }: RecoverReport['lost']): boolean {
  return segments === 0 && frames === 0 && strings === 0 && isExact;
}

function timeText({ fromPs, toPs }: LostTime): string {
  const from = fromPs === null ? 'from the beginning' : `after ${fromPs} ps`;
  return toPs === null ? `${from}, to the end` : `${from}, before ${toPs} ps`;
}
