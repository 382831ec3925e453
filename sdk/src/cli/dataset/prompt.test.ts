import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UscopeError } from '../../base/errors.js';
import { useIo } from '../common/io.js';
import { completionsOf, historyPath, type PromptWork, prompt } from './prompt.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-prompt-'));
let printed = '';
let asked: string[] = [];

beforeEach(() => {
  printed = '';
  asked = [];
  useIo({
    out: (text) => {
      printed += text;
    },
    err: (line) => {
      printed += `${line}\n`;
    },
    flush: () => {},
    colour: false,
  });
});
afterEach(() => useIo(null));

const work = (ask: PromptWork['ask'] = async (question) => void asked.push(question)): PromptWork => ({
  ask,
  tables: ['traces', 'instructions'],
  summaries: ['ipc(): instructions per cycle'],
  words: async () => ['traces', 'instructions', 'ipc', 'retired'],
});

function terminal(historyFile: string | null = null) {
  const input = new PassThrough();
  const output = new PassThrough();
  output.resume();
  return { input, output, historyFile };
}

describe('the prompt', () => {
  it('asks questions that end with a semicolon, of several lines too, and knows its commands', async () => {
    const at = terminal();
    const done = prompt(work(), at);
    at.input.write('.tables\nselect 1\n + 2;\n.schema traces\n.nope\n.questions\nfrom ipc();\n.quit\n');
    await done;
    expect(asked).toEqual(['select 1\n + 2;', 'describe traces;', 'from ipc();']);
    expect(printed).toBe(
      'traces  instructions\nthere is no .nope; .help lists what there is\nipc(): instructions per cycle\n',
    );
  });

  it('goes on after an error, and after a question that Ctrl-C ends', async () => {
    const at = terminal();
    let started = (): void => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const done = prompt(
      work(async (question, signal) => {
        asked.push(question);
        if (question === 'bad;') throw new UscopeError('DATASET_QUERY', 'no such thing');
        if (question !== 'long;') return;
        started();
        await new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => reject(new UscopeError('DATASET_TIMEOUT', 'interrupted')));
        });
      }),
      at,
    );
    at.input.write('bad;\nlong;\n');
    await hasStarted;
    at.input.write('\u0003');
    at.input.write('last;\n.quit\n');
    await done;
    expect(asked).toEqual(['bad;', 'long;', 'last;']);
    expect(printed).toBe('DATASET_QUERY: no such thing\nDATASET_TIMEOUT: interrupted\n');
  });

  it('Ctrl-C clears what was typed, and the end of the input ends it', async () => {
    const at = terminal();
    const done = prompt(work(), at);
    at.input.write('select\nhalf\u0003from ipc();\n');
    at.input.end();
    await done;
    expect(asked).toEqual(['from ipc();']);
  });

  it('keeps its history, readable by its user only', async () => {
    const path = join(directory, 'state', 'history');
    mkdirSync(join(directory, 'state'));
    writeFileSync(path, 'first;\n');
    const at = terminal(path);
    const done = prompt(work(), at);
    at.input.write('second;\n.quit\n');
    await done;
    expect(readFileSync(path, 'utf8')).toBe('first;\nsecond;\n.quit\n');
    rmSync(directory, { recursive: true });
  });

  it('completes tables, columns, questions and commands', () => {
    const words = ['traces', 'instructions', 'ipc', 'retired'];
    expect(completionsOf('from i', words)).toEqual([['instructions', 'ipc'], 'i']);
    expect(completionsOf('select t.RET', words)).toEqual([['retired'], 'RET']);
    expect(completionsOf('.ta', words)).toEqual([['.tables'], '.ta']);
    expect(completionsOf('select ', words)).toEqual([[], '']);
    expect(historyPath({ XDG_STATE_HOME: '/s' })).toBe('/s/uscope/sql-history');
    expect(historyPath({ XDG_STATE_HOME: 's' })).toBe(historyPath({}));
  });
});
