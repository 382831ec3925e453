import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { bashCompletion } from '../../sdk/src/cli/completion/bash.js';
import { describeCommand } from '../../sdk/src/cli/completion/model.js';
import { loadAllVerbs } from '../../sdk/src/cli/main.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';

// Commands are started.
limitOfFile(PROCESSES_MS);

const pages = new URL('../../docs/reference/cli/', import.meta.url);
const overview = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8');
/** Without links and code marks. */
const plain = overview.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
const SECTIONS = ['Synopsis', 'Options', 'Output', 'Exit status', 'Examples'];
/** A protocol is not printed: its page has other sections. */
const WITHOUT_OUTPUT = new Set(['mcp']);

/** The verbs by name; filled before the tests run. */
const verbs = new Map<string, Command>();
const program = await loadAllVerbs();
for (const command of program.commands) verbs.set(command.name(), command);

/** Text of a page by section. */
function sectionsOf(text: string): Map<string, string> {
  const parts = text.split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n'))]));
}

/** Flags that the rows or items of a section are about: those written at the beginning of a line, each between backquotes. */
function flagsIn(section: string): string[] {
  const heads = [...section.matchAll(/^(?:\| |[-*] |#+ )?((?:`[^`]+`(?:, ?)?)+)/gm)].map(([, head]) => head);
  return heads.flatMap((head) => [...head.matchAll(/(?<![\w-])--?[A-Za-z][\w-]*/g)].map(([flag]) => flag));
}

function flagsOf(command: Command): string[] {
  const own = command.options
    .flatMap(({ short, long }) => [short, long])
    .filter((flag) => flag !== undefined);
  return [...own, '-h', '--help'];
}

describe.each([...verbs.keys()])('docs/reference/cli/%s.md', (name) => {
  const page = new URL(`${name}.md`, pages);
  let text = '';
  let sections: Map<string, string>;
  beforeAll(() => {
    text = existsSync(page) ? readFileSync(page, 'utf8') : '';
    sections = sectionsOf(text);
  });

  it('is there, with the sections of a manual page, and is linked from docs/reference/cli.md with its summary', () => {
    expect(text).toMatch(new RegExp(`^# .*uscope ${name}`));
    const wanted = SECTIONS.filter((title) => title !== 'Output' || !WITHOUT_OUTPUT.has(name));
    expect([...sections.keys()].filter((title) => wanted.includes(title))).toEqual(wanted);
    expect(overview).toContain(`](cli/${name}.md)`);
    expect(plain).toContain(`\n| ${name} | ${verbs.get(name)?.summary()}`);
  });

  it('lists the options that the command has, and no others', () => {
    const documented = new Set(flagsIn(sections.get('Options') ?? ''));
    const defined = new Set(flagsOf(verbs.get(name) as Command));
    documented.delete('-h');
    documented.delete('--help');
    defined.delete('-h');
    defined.delete('--help');
    expect([...documented].sort()).toEqual([...defined].sort());
  });

  it('shows how to call it', () => {
    expect(sections.get('Synopsis')).toContain(`uscope ${name}`);
    expect(sections.get('Examples')).toContain(`uscope ${name}`);
    expect(sections.get('Exit status')).toMatch(/\b0\b/);
  });
});

describe('a range', () => {
  const forms = ['--from <time>', '--to <time>', '--cycles <[clock:]a:b>', '--cycle <[clock:]n>'];

  it.each(['dump', 'events', 'tail', 'history', 'timeline', 'counters', 'buffers', 'stats', 'slice'])(
    'is asked of %s with the same options',
    (name) => {
      const flags = verbs.get(name)?.options.map((option) => option.flags) ?? [];
      expect(forms.filter((form) => flags.includes(form))).toEqual(forms);
    },
  );

  it('of one time has --at and --cycle', () => {
    const flags = verbs.get('state')?.options.map((option) => option.flags);
    expect(flags).toEqual(expect.arrayContaining(['--at <time>', '--cycle <[clock:]n>']));
  });
});

describe.skipIf(lacks('bash', spawnSync('bash', ['--version']).status === 0))('completion in bash', () => {
  const script = bashCompletion(describeCommand(program));
  const offer = 'eval "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _uscope; echo "${COMPREPLY[@]}"';
  const complete = (...words: string[]): string[] =>
    execFileSync('bash', ['--norc', '-c', offer, 'bash', script, 'uscope', ...words], { encoding: 'utf8' })
      .trim()
      .split(' ');

  it('knows every verb', () => {
    expect(complete('').sort()).toEqual([...verbs.keys(), 'help'].sort());
  });

  it.each([...verbs.keys()])('knows every option of %s', (name) => {
    expect(complete(name, '-').sort()).toEqual(flagsOf(verbs.get(name) as Command).sort());
  });
});

describe('docs/reference/cli', () => {
  it('has no page without a verb', () => {
    const names = readdirSync(pages).map((file) => file.replace(/\.md$/, ''));
    expect(names.filter((name) => !verbs.has(name))).toEqual([]);
  });
});
