import { describe, expect, it } from 'vitest';
import { commentsOf, compare, findingsOf, longSubjects, sentencesOf } from './check-words.mjs';

const kinds = (path: string, text: string) =>
  findingsOf(path, text).map(({ kind, place }) => `${kind} ${place}`);
const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ');

describe('comments', () => {
  it.each([
    ['a.ts', '/** Of a run. */\nconst a = 1;\n'],
    ['a.ts', '/**\n * Of a run,\n * its time.\n */\n'],
    ['a.ts', '// Of a run.\n'],
    ['a.c', 'int a; /* Of a run. */\n'],
    ['a.sv', '// Of a run\n'],
    ['a.py', '"""Of a run."""\n'],
    ['a.py', '# Of a run\n'],
  ])('in %s that begin with a fragment are found: %j', (path, text) => {
    expect(kinds(path, text)).toEqual([`fragments ${path}:1`]);
  });

  it.each(['In which it lies.', 'By address.', 'As a file.', 'Where it ends.'])(
    '%s is a fragment',
    (text) => {
      expect(kinds('a.ts', `const a = 1;\n/** ${text} */\n`)).toEqual(['fragments a.ts:2']);
    },
  );

  it('with a subject, code and addresses are none', () => {
    expect(kinds('a.ts', '/** The time of a run. */\nconst of = "https://x/Of";\n// Often.\n')).toEqual([]);
  });

  it('of several lines are one', () => {
    expect(commentsOf('a.ts', '  // one\n  // two\nlet a;\n')).toEqual([{ line: 1, text: 'one\ntwo' }]);
  });
});

describe('sentences', () => {
  it('over 35 words are found in comments and documents', () => {
    expect(kinds('a.md', `${words(36)}. ${words(35)}.\n`)).toEqual(['longSentences a.md:1']);
    expect(kinds('a.ts', `/** ${words(36)} */\n`)).toEqual(['longSentences a.ts:1']);
  });

  it('end at paragraphs, items, cells, code and tags', () => {
    const text = `${words(20)}\n\n${words(20)}\n* ${words(20)}\n| ${words(20)} | ${words(20)} |\n\`\`\`\n${words(99)}\n\`\`\`\n @param ${words(20)}`;
    expect(kinds('a.md', text)).toEqual([]);
  });

  it('count code and the target of a link as a word each', () => {
    expect(sentencesOf('See [a b](c.md) `d e f`.')).toEqual(['See [a b] code']);
  });
});

it('"is no" is found in every line, "there is no" and "is no longer" are not', () => {
  expect(kinds('a.ts', 'throw \'"x" is no y, and are no z\';\n// there is no x; it is no longer\n')).toEqual([
    'isNo a.ts:1',
    'isNo a.ts:1',
  ]);
});

it('subjects of commits have 72 characters at most', () => {
  expect(longSubjects(['x'.repeat(72), 'é'.repeat(73)])).toEqual(['é'.repeat(73)]);
});

it('counts may fall, not rise', () => {
  expect(compare({ a: 1, b: 1, c: 1 }, { a: 0, b: 1, c: 2 })).toEqual({ risen: ['c'], fallen: ['a'] });
});
