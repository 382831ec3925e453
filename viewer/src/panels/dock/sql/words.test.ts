import { expect, it } from 'vitest';
import { completions, readyMade, wordsOf } from './words.js';

const NAMES = {
  columns: [
    { table: 'instructions', column: 'birth_cycle' },
    { table: 'stalls', column: 'cycle' },
    { table: 'stalls', column: 'core' },
    { table: 'instructions', column: 'core' },
  ],
  questions: [
    { name: 'hot_pcs', summary: 'hot_pcs(n): the n addresses that cost most.' },
    { name: 'ipc', summary: 'ipc(): instructions per cycle.' },
    { name: 'compare', summary: 'compare(a, b): two sets of runs.' },
    { name: 'unsigned', summary: 'unsigned(value): a value without sign.' },
  ],
};

it('completes the word before the cursor with tables, questions, columns and variables', () => {
  const words = wordsOf(NAMES);
  const text = 'select birth_c from ins where';
  expect(completions(words, text, 14)).toEqual({
    from: 7,
    words: [{ text: 'birth_cycle', hint: 'column of instructions' }],
  });
  expect(completions(words, text, 23).words.map(({ text }) => text)).toEqual(['instructions']);
  expect(completions(words, 'from ho', 7).words).toEqual([
    { text: 'hot_pcs(', hint: 'the n addresses that cost most.' },
  ]);
  expect(completions(words, 'where cycle < $', 15).words.map(({ text }) => text)).toEqual(['$from', '$to']);
  expect(completions(words, 'select ', 7).words).toEqual([]);
  // What is complete needs no list.
  expect(completions(words, 'from stalls', 11).words).toEqual([]);
  // A column of several tables is there once.
  expect(words.filter(({ text }) => text === 'core')).toHaveLength(1);
});

it('offers the ready-made questions that need only a number, as they are asked', () => {
  expect(readyMade(NAMES).map(({ text }) => text)).toEqual(['from hot_pcs(20)', 'from ipc()']);
});
