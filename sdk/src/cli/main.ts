/** The `uscope` command. A verb's module, and what it imports, is loaded only when the verb is used: start-up time counts in scripts. */
import { Command, CommanderError } from 'commander';
import { isUscopeError, NOTE, UscopeError } from '../base/errors.js';
import { VERSION } from '../bridge/wire/version.js';
import { BrokenPipe, describeError, ExitCode, io } from './common/io.js';
import type { Verb } from './common/leaf.js';
import { missingPackage } from './common/optional-packages.js';
import { LEAF_VERBS } from './leaf-uses.js';

/** In the order of the help text. */
const VERBS: ReadonlyMap<string, Verb> = new Map(
  Object.entries<Verb>({
    run: ['run a simulator and trace it', () => import('./verbs/run.js')],
    serve: ['receive traces from simulators until stopped', () => import('./verbs/serve.js')],
    ctl: ['pause, resume and mark traces while they are recorded', () => import('./verbs/ctl.js')],
    info: [
      'what a trace is and how much it holds, or the traces of a directory by run',
      () => import('./verbs/info.js'),
    ],
    schema: [
      'the schema of a trace; schema files checked, and one to begin with',
      () => import('./verbs/schema.js'),
    ],
    dump: ['every op and event, in file order', () => import('./verbs/dump.js')],
    events: ['events, by type, time and field', () => import('./verbs/events.js')],
    find: ['instructions by text or address, and events', () => import('./verbs/find.js')],
    tail: ['events of a trace while it grows', () => import('./verbs/tail.js')],
    state: ['the storages at one time', () => import('./verbs/state.js')],
    history: ['every change of slots and fields', () => import('./verbs/history.js')],
    view: ['look at a trace in a browser', () => import('./verbs/view.js')],
    timeline: ['the pipeline, cycle by cycle', () => import('./verbs/timeline.js')],
    counters: ['values and rates of counters', () => import('./verbs/counters.js')],
    buffers: ['how full buffers are', () => import('./verbs/buffers.js')],
    stats: ['how a core performed: IPC, stalls, latencies, buffers', () => import('./verbs/stats.js')],
    index: ['make indexes for traces that have none', () => import('./verbs/index.js')],
    verify: [
      'check every structure, checksum and cross reference of a trace',
      () => import('./verbs/verify.js'),
    ],
    doctor: ['what is implausible in a trace, and why', () => import('./verbs/doctor.js')],
    recover: [
      'a finalized trace from a truncated, unfinalized or damaged one',
      () => import('./verbs/recover.js'),
    ],
    diff: ['the first difference between two traces', () => import('./verbs/diff.js')],
    merge: ['several traces in one, a scope for each', () => import('./verbs/merge.js')],
    slice: ['a part of a trace as a separate trace', () => import('./verbs/slice.js')],
    convert: ['traces from and to other formats', () => import('./verbs/convert.js')],
    ...LEAF_VERBS,
    codegen: [
      'typed code for a schema: SystemVerilog, C, C++, Python or TypeScript',
      () => import('./verbs/codegen.js'),
    ],
    config: ['flags and files for compilers and simulators', () => import('./verbs/config.js')],
    keygen: ['make a pair of keys for an encrypted connection', () => import('./verbs/keygen.js')],
    completion: [
      'completion of the command line for bash, zsh or fish',
      () => import('./verbs/completion.js'),
    ],
  }),
);

/**
 * Runs one command line (without the names of node and script) and returns the exit status. Nothing is thrown: failures are reported
 * on stderr.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  process.exitCode = undefined;
  try {
    if (wantsVersionReport(args)) {
      const { versionReport } = await import('./common/version-report.js');
      io.out(`${versionReport().join('\n')}\n`);
      io.flush();
      return ExitCode.OK;
    }
    await (await programFor(args)).parseAsync([...args], { from: 'user' });
    io.flush();
    return Number(process.exitCode ?? ExitCode.OK);
  } catch (error) {
    return reportFailure(isUscopeError(error) ? await explained(error) : error);
  }
}

/** `--version --verbose`: commander prints the version and ends at the first of them. */
const wantsVersionReport = (args: readonly string[]): boolean =>
  args.length === 2 &&
  args.includes('--verbose') &&
  args.some((word) => word === '--version' || word === '-V');

/** Entry of the executable. */
export async function main(): Promise<void> {
  printNotes();
  process.exitCode = await runCli(process.argv.slice(2));
}

/** Notes of what a verb uses are lines as ours; other warnings of the process stay what they are. */
function printNotes(): void {
  const others = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === NOTE) io.err(`uscope: note: ${warning.message}`);
    else for (const listener of others) listener(warning);
  });
}

/** @throws UscopeError CLI_USAGE for a verb that there is not, also where only its help is asked for */
async function programFor(args: readonly string[]): Promise<Command> {
  const program = emptyProgram();
  const [first, second] = args.filter((word) => !word.startsWith('-'));
  const wanted = first === 'help' ? second : first;
  if (wanted !== undefined && wanted !== 'help' && !VERBS.has(wanted)) {
    const { didYouMean } = await import('../schema/suggest.js');
    const near = didYouMean(wanted, VERBS.keys());
    throw new UscopeError(
      'CLI_USAGE',
      `there is no verb "${wanted}"; "uscope --help" lists them${near && `.${near}`}`,
    );
  }
  for (const [name, [summary, load]] of VERBS) {
    const command = program.command(name).summary(summary).description(summary);
    if (name === wanted) (await load()).register(command, loadAllVerbs);
  }
  return program;
}

/** Every verb's module is loaded: for completion and for comparing the documents with the commands. */
export async function loadAllVerbs(): Promise<Command> {
  const program = emptyProgram();
  for (const [name, [summary, load]] of VERBS)
    (await load()).register(program.command(name).summary(summary), loadAllVerbs);
  return program;
}

function emptyProgram(): Command {
  return new Command('uscope')
    .description('µScope traces: record them from any simulator, look into them while they grow')
    .version(VERSION, '-V, --version', 'print the version')
    .option('--verbose', 'with --version: which kernel and libraries run here, and why')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [verb]', 'print help for a verb')
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => {
        for (const line of text.trimEnd().split('\n')) io.err(line);
      },
      outputError,
    })
    .enablePositionalOptions() // else no verb can leave options to the program that it starts
    .exitOverride();
}

/** Scripts may still give it to verbs that had it once. */
const NO_JOBS =
  '(leave --jobs out: "uscope index" makes the index from which stats, buffers and counters answer; --exact reads with one thread)';

/** Commander's own messages ("error: unknown option '--x'") in the form of ours. */
function outputError(message: string, write: (text: string) => void): void {
  const [problem = '', ...hints] = message.trimEnd().split('\n');
  if (problem.includes("unknown option '--jobs")) hints.push(NO_JOBS);
  write([`uscope: CLI_USAGE: ${problem.replace(/^error: /, '')}`, ...hints].join('\n'));
}

/** What the command line says is wrong, or names nothing. */
const isAboutWords = ({ code }: UscopeError): boolean => code === 'CLI_USAGE' || code === 'READER_NAME';

/** What is not a trace may be a file of another format. */
async function explained(error: UscopeError): Promise<UscopeError> {
  if (!/^(FORMAT|RECOVER)_/.test(error.code)) return error;
  const { withForeignHint } = await import('./common/foreign-hint.js');
  return withForeignHint(error);
}

/** What the operating system refused, and nobody has given a code: it is not a fault of the program. */
async function systemError(failure: unknown): Promise<unknown> {
  const { syscall, code, path, message } = (failure ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined || code === undefined || isUscopeError(failure)) return failure;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const { ioError } = await import('../writer/output/output-file.js');
    return ioError(failure, path ?? 'a file');
  }
  return new UscopeError('CLI_SYSTEM', `the operating system said: ${message}`, {}, { cause: failure });
}

async function reportFailure(failure: unknown): Promise<number> {
  if (failure instanceof BrokenPipe) return ExitCode.OK;
  const error = (await missingPackage(failure)) ?? (await systemError(failure));
  try {
    io.flush();
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.OK : ExitCode.USAGE;
    if (!isUscopeError(error)) {
      io.err(`uscope: unexpected failure: ${error instanceof Error ? error.stack : String(error)}`);
      return ExitCode.FAILED;
    }
    io.err(`uscope: ${describeError(error)}`);
    return isAboutWords(error) ? ExitCode.USAGE : ExitCode.FAILED;
  } catch (again) {
    if (again instanceof BrokenPipe) return ExitCode.OK;
    throw again;
  }
}
