// @ts-check
/**
 * The verbs of a fault campaign, many runs in one process, which has fail-call.so loaded: the parent sends what shall fail, and gets what became
 * of it. After each run the file system works again, and what is there is looked at with the verbs themselves.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useIo } from '../../sdk/dist/cli/common/io.js';
import { runCli } from '../../sdk/dist/cli/main.js';
import { FaultControl, problemsOfText } from './fault-control.mjs';

/**
 * @typedef {object} Verb
 * @property {string[]} args
 * @property {string} [output] appears whole or not at all
 * @property {boolean} [isTrace] the output is one
 * @property {boolean} [mayContinue] what is left is what the next run continues
 * @property {string[]} [repair] what a failure asks for
 * @property {() => void} [prepare] files that are there before
 * @property {() => Promise<string[]>} [check] of what is left, before the verb runs once more @property {() => Promise<string[]>} [after] that
 */

const [inputs, run] = process.argv.slice(2);
const input = (/** @type {string} */ name) => join(inputs, name);
const own = (/** @type {string} */ name) => join(run, name);
const INSTRUCTIONS = 400;
const ONE_THREAD = ['--threads', '1'];

let text = '';

/** @param {string[]} args @returns {Promise<{ status: number, text: string }>} */
async function command(args) {
  text = '';
  const status = await runCli(args);
  return { status, text };
}

/** @param {string} name @param {string} output @param {string[]} args @returns {Verb} */
const trace = (name, output, args) => ({ args: [name, ...args, '-o', own(output)], output, isTrace: true });

const copyDataset = (/** @type {string} */ name) => () =>
  cpSync(input(name), own('data'), { recursive: true, preserveTimestamps: true });

/** @param {number[]} runs what may be there */
const runsAre = (runs) => async () => {
  const problems = [];
  const whole = await command(['dataset', 'check', own('data')]);
  if (whole.status !== 0) problems.push(`dataset check: ${whole.text}`);
  const asked = await command(['sql', own('data'), 'select count(distinct run) from traces', '--csv']);
  const count = Number(/^\d+$/m.exec(asked.text)?.[0] ?? -1);
  if (!runs.includes(count)) problems.push(`the dataset has ${count} runs: ${asked.text}`);
  return problems;
};

/** @type {Readonly<Record<string, Verb>>} */
const VERBS = {
  index: {
    args: ['index', '--force', ...ONE_THREAD, input('a.uscope'), '-o', own('a.idx')],
    output: 'a.idx',
    mayContinue: true,
  },
  slice: trace('slice', 'slice.uscope', [input('a.uscope')]),
  merge: trace('merge', 'merge.uscope', [input('a.uscope'), input('b.uscope')]),
  recover: trace('recover', 'recovered.uscope', [input('a.uscope')]),
  convert: trace('convert', 'a.uscope', [input('a.kanata')]),
  'convert-from': { args: ['convert', input('a.uscope'), '-o', own('a.kanata')], output: 'a.kanata' },
  stats: { args: ['stats', input('a.uscope'), '--html', own('a.html')], output: 'a.html' },
  codegen: { args: ['codegen', input('a.yaml'), '--c', '-o', own('a.h')], output: 'a.h' },
  sql: {
    args: ['sql', input('a.uscope'), 'select * from traces', '-o', own('rows.parquet')],
    output: 'rows.parquet',
  },
  export: {
    args: ['export', input('a.uscope'), '--run', 'new', '-o', own('data'), '--jobs', '1'],
    prepare: copyDataset('data'),
    check: runsAre([2, 3]),
    after: runsAre([3]),
  },
  'export-new': {
    args: ['export', input('a.uscope'), '--run', 'new', '-o', own('data'), '--jobs', '1'],
    after: runsAre([1]),
  },
  compact: {
    args: ['dataset', 'compact', own('data')],
    prepare: copyDataset('data'),
    check: runsAre([2]),
    after: runsAre([2]),
  },
  rm: {
    args: ['dataset', 'rm', own('data'), 'r*1'],
    prepare: copyDataset('data'),
    check: runsAre([1, 2]),
    after: runsAre([1]),
  },
  'rm-joined': {
    args: ['dataset', 'rm', own('data'), 'r*1'],
    prepare: copyDataset('joined'),
    repair: ['dataset', 'compact', own('data')],
    after: runsAre([1]),
  },
};

/** What a clean run has made. @type {Map<string, Buffer>} */
const references = new Map();

/** @param {string} kind @param {number} nth 0: nothing fails @param {number} error */
async function attempt(kind, nth, error) {
  const verb = VERBS[kind];
  rmSync(run, { recursive: true, force: true });
  mkdirSync(run, { recursive: true });
  verb.prepare?.();
  control.arm(nth, error);
  const { status, text: said } = await command(verb.args);
  const { count, hit } = control.disarm();
  const problems = problemsOfText(said);
  if (status !== 0 && !/[A-Z]+_[A-Z_]+: /.test(said)) problems.push('it failed without a code');
  if (status !== 0 && hit === '') problems.push('it failed though nothing had');
  problems.push(...(await look(kind, status, hit)));
  return { count, hit, status, problems, output: said };
}

/** @param {string} kind @param {number} status @param {string} hit @returns {Promise<string[]>} */
async function look(kind, status, hit) {
  const { output, isTrace, mayContinue, check, after, args, repair } = VERBS[kind];
  const problems = [];
  if (output !== undefined) {
    const isThere = existsSync(own(output));
    if (status === 0 && !isThere) problems.push('it ended well and there is no output');
    if (isThere) problems.push(...(await wholeness(kind, own(output), isTrace === true)));
    // A removal that fails leaves what it would have removed.
    const left = readdirSync(run).filter((name) => name !== output && !mayContinue);
    if (left.length > 0 && hit !== 'u') problems.push(`${left.join(', ')} is left`);
  }
  // With a dataset of which not even the directory could be made there is nothing to check.
  if (check && existsSync(own('data'))) problems.push(...(await check()));
  if (mayContinue || after) {
    const again = await command(args);
    if (repair) await command(repair);
    const isGone = /has no run "r\*1"/.test(again.text);
    if (again.status !== 0 && !isGone) problems.push(`once more: ${again.text}`);
    if (after) problems.push(...(await after()));
    else if (output) problems.push(...(await wholeness(kind, own(output), false)));
  }
  return problems;
}

/** The same bytes as a clean run's; a trace has its times in it, and is verified instead. @param {string} kind @param {string} path @param {boolean} isTrace */
async function wholeness(kind, path, isTrace) {
  if (isTrace) {
    const { status, text: said } = await command(['verify', path]);
    return status === 0 ? [] : [`verify: ${said}`];
  }
  const bytes = readFileSync(path);
  const known = references.get(kind);
  if (!known) references.set(kind, bytes);
  return known && known.length !== bytes.length ? [`${bytes.length} bytes instead of ${known.length}`] : [];
}

const control = new FaultControl(process.env.FAIL_CONTROL ?? '');
useIo({
  out: (part) => {
    text += part;
  },
  err: (line) => {
    text += `${line}\n`;
  },
  flush: () => {},
  colour: false,
});
process.on('unhandledRejection', (reason) => {
  text += `unexpected failure: unhandled ${reason instanceof Error ? reason.stack : reason}\n`;
});
process.on('warning', () => {}); // others are printed as well
process.on(
  'message',
  async (/** @type {{ kind: string, nth: number, error: number }} */ { kind, nth, error }) => {
    process.send?.(await attempt(kind, nth, error));
  },
);
await makeInputs();
process.send?.('ready');

/** A pipeline of a few hundred instructions as text and as traces, and datasets of two runs. */
async function makeInputs() {
  if (existsSync(inputs)) return; // of a process before this one
  mkdirSync(inputs);
  const lines = ['Kanata\t0004', 'C=\t0'];
  for (let i = 0; i < INSTRUCTIONS; i++) {
    const label = `${(0x1000 + 4 * i).toString(16)}: addi a0, a0, ${i}`;
    lines.push(`I\t${i}\t${i}\t0`, `L\t${i}\t0\t${label}`, `S\t${i}\t0\tF`, 'C\t1');
    lines.push(`S\t${i}\t0\tX`, 'C\t1', `R\t${i}\t${i}\t0`);
  }
  writeFileSync(input('a.kanata'), `${lines.join('\n')}\n`);
  writeFileSync(input('a.yaml'), 'uscope: 1\nclocks: {clk: 1000 ps}\nevents:\n  tick: {cycle: u64}\n');
  const make = async (/** @type {string[]} */ args) => {
    const { status, text: said } = await command(args);
    if (status !== 0) throw new Error(said);
  };
  for (const name of ['a.uscope', 'b.uscope'])
    await make(['convert', input('a.kanata'), '-o', input(name), '--checkpoint-interval', '50ns']);
  for (const data of ['data', 'joined'])
    for (const [run, name] of [
      ['r0', 'a.uscope'],
      ['r1', 'b.uscope'],
    ])
      await make(['export', input(name), '--run', run, '-o', input(data)]);
  await make(['dataset', 'compact', input('joined')]);
}
