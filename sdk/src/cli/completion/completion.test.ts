import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { bashCompletion } from './bash.js';
import { fishCompletion } from './fish.js';
import { describeCommand } from './model.js';
import { zshCompletion } from './zsh.js';

// Shells are started.
limitOfFile(PROCESSES_MS);

/** A command with everything that completion knows of. */
function sample(): Command {
  const program = new Command('uscope').version('1.2.3', '-V, --version', 'print the version');
  program
    .command('dump')
    .summary("every op, in the trace's order")
    .argument('<file>', 'trace file')
    .option('--json', 'one object per line')
    .option('--from <time>', 'first time: 4ns')
    .option('-o, --output <file>', 'where to')
    .option('--out <dir>', 'directory');
  program
    .command('history')
    .summary('changes')
    .argument('<file>', 'trace file')
    .argument('<storage...>', 'what to follow')
    .option('--cycles <[clock:]a:b>', 'cycles [a, b)')
    .addOption(new Option('--compression <method>', 'how').choices(['lz4', 'zstd', 'none']));
  program.command('merge').summary('several in one').argument('<traces...>', 'trace files');
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']));
  return program;
}

const model = describeCommand(sample());
const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-completion-'));
  mkdirSync(join(directory, 'runs'));
  for (const name of ['core0.uscope', 'two words.uscope', 'core.yaml', 'notes.txt']) {
    writeFileSync(join(directory, name), '');
  }
  writeFileSync(join(directory, 'uscope.bash'), bashCompletion(model));
  writeFileSync(join(directory, 'uscope.zsh'), zshCompletion(model));
  writeFileSync(join(directory, 'uscope.fish'), fishCompletion(model));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** What bash offers for the last of these words, split as readline splits them (at `=` and `:` too). */
function completeInBash(...words: string[]): string[] {
  const program = `
    source ./uscope.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    $(complete -p uscope | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['--norc', '-c', program, 'bash', 'uscope', ...words], {
    cwd: directory,
    encoding: 'utf8',
  });
  return out.split('\n').filter((line) => line !== '');
}

describe.skipIf(lacks('bash', has('bash')))('completion in bash', () => {
  it.each<[string, string[], string[]]>([
    ['verbs', [''], ['dump', 'history', 'merge', 'completion', 'help']],
    ['the rest of a verb', ['hi'], ['history']],
    ['options before the verb', ['--'], ['--help', '--version']],
    ['options of the verb', ['dump', '-'], ['--json', '--from', '-o', '--output', '--out', '-h', '--help']],
    ['the rest of an option', ['dump', '--fr'], ['--from']],
    ['options behind a file', ['dump', 'core0.uscope', '--js'], ['--json']],
    ['trace files and directories', ['dump', ''], ['core0.uscope', 'two words.uscope', 'runs']],
    ['any file where no trace fits', ['dump', 'no'], ['notes.txt']],
    ['a file with a space in its name', ['dump', 'two'], ['two words.uscope']],
    ['any file as a value', ['dump', '-o', 'core'], ['core0.uscope', 'core.yaml']],
    ['directories as a value', ['dump', '--out', ''], ['runs']],
    ['nothing for a value nobody can guess', ['dump', '--from', ''], []],
    ['fixed values', ['history', '--compression', ''], ['lz4', 'zstd', 'none']],
    ['fixed values behind =', ['history', '--compression', '=', ''], ['lz4', 'zstd', 'none']],
    ['fixed values right at =', ['history', '--compression', '='], ['lz4', 'zstd', 'none']],
    ['part of a fixed value behind =', ['history', '--compression', '=', 'z'], ['zstd']],
    ['files behind the value of an option', ['history', '--cycles', '1', ':', '2', 'core'], ['core0.uscope']],
    [
      'files behind a value with a clock',
      ['history', '--cycles', 'clk', ':', '1', ':', '2', 'c'],
      ['core0.uscope'],
    ],
    ['no files for later words', ['history', 'core0.uscope', ''], []],
    ['files for each of several', ['merge', 'core0.uscope', 'a', 'co'], ['core0.uscope']],
    ['words that an argument may be', ['completion', 'z'], ['zsh']],
    ['verbs behind help', ['help', 'du'], ['dump']],
    ['nothing for an unknown verb', ['frobnicate', ''], []],
  ])('offers %s', (_, words, expected) => {
    expect(completeInBash(...words).sort()).toEqual([...expected].sort());
  });
});

describe('completion in other shells', () => {
  it.skipIf(lacks('zsh', has('zsh')))('is understood by zsh', () => {
    execFileSync('zsh', ['-n', join(directory, 'uscope.zsh')]);
  });

  it('in zsh describes verbs, options, values and words', () => {
    const script = zshCompletion(model);
    expect(script).toMatch(/^#compdef uscope\n/);
    expect(script).toContain(`'dump:every op, in the trace'\\''s order'`);
    expect(script).toContain(`'--from=[first time\\: 4ns]: : '`);
    expect(script).toContain(`'(-o --output)-o+[where to]: :_files'`);
    expect(script).toContain(`'--cycles=[cycles \\[a, b)]: : '`);
    expect(script).toContain(`'--compression=[how]: :(lz4 zstd none)'`);
    expect(script).toContain(`'1: :_files -g "*.uscope(-.)"'`);
    expect(script).toContain(`'1: :(bash zsh fish)'`);
  });

  it.skipIf(lacks('fish', has('fish')))('is understood by fish, and offers the same', () => {
    const offered = (line: string): string[] =>
      execFileSync('fish', ['-N', '-c', `source uscope.fish; complete -C '${line}'`], {
        cwd: directory,
        encoding: 'utf8',
      })
        .split('\n')
        .map((item) => item.replace(/\t.*/, ''))
        .filter((item) => item !== '');
    expect(offered('uscope hi')).toEqual(['history']);
    expect(offered('uscope dump --fr')).toEqual(['--from']);
    expect(offered('uscope history --compression ')).toEqual(expect.arrayContaining(['lz4', 'zstd', 'none']));
    expect(offered('uscope completion z')).toEqual(['zsh']);
  });

  it('in fish describes verbs, options, values and words', () => {
    const lines = fishCompletion(model).split('\n');
    expect(lines).toContain(
      `complete -c uscope -n "__fish_is_first_token" -a dump -d 'every op, in the trace\\'s order'`,
    );
    expect(lines).toContain(
      `complete -c uscope -n "__fish_seen_subcommand_from dump" -s o -l output -x -a "(__fish_complete_path)" -d 'where to'`,
    );
    expect(lines).toContain(
      `complete -c uscope -n "__fish_seen_subcommand_from history" -l compression -x -a 'lz4 zstd none' -d 'how'`,
    );
  });
});
