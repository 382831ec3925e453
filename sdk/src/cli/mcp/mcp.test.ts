import { describe, expect, it } from 'vitest';
import { coreSchema, frame, stage, TraceBuilder } from '../../../../test/support/build-trace.js';
import { UscopeError } from '../../base/errors.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { EventFilter, parseConditions } from '../common/event-filter.js';
import { Budget, failure, page, shortLists, success, toJson } from './tools/answer.js';
import { nameFiles, TraceFiles } from './tools/files.js';
import { searchEvents } from './tools/find-events.js';

describe('names of files', () => {
  const names = (...args: string[]) => nameFiles(args).map(({ name }) => name);

  it('are those of the files, without folder and ending', () => {
    expect(names('run/core0.uscope', 'b.trace')).toEqual(['core0', 'b.trace']);
    expect(names('https://host/traces/core%200.uscope?token=a=b')).toEqual(['core 0']);
  });

  it('get the folder or a number where two would be the same', () => {
    expect(names('a/core0.uscope', 'b/core0.uscope')).toEqual(['core0', 'b/core0']);
    expect(names('core0.uscope', './core0.uscope', 'core0.uscope')).toEqual(['core0', 'core0-2', 'core0-3']);
  });

  it('may be given', () => {
    expect(nameFiles(['good=a/core0.uscope', 'bad=http://host/x?y=z'])).toEqual([
      { name: 'good', file: 'a/core0.uscope' },
      { name: 'bad', file: 'http://host/x?y=z' },
    ]);
    expect(() => names('one=a', 'one=b')).toThrow(/CLI_USAGE: two files are to be called "one"/);
  });

  it('are asked for exactly; the only file needs none', () => {
    const one = new TraceFiles(nameFiles(['core0.uscope']));
    expect(one.find(undefined).file).toBe('core0.uscope');
    expect(() => one.find('core1')).toThrow(/READER_NAME: there is no file "core1"; there are: core0/);
    const two = new TraceFiles(nameFiles(['a.uscope', 'b.uscope']));
    expect(() => two.find(undefined)).toThrow(/READER_NAME: there are several files; name one of them: a, b/);
  });
});

describe('answers', () => {
  it('hold as many items as the limit says, and no more text than the budget', () => {
    const items = Array.from({ length: 100 }, (_, i) => ({ i, text: 'y'.repeat(900) }));
    expect(page(items, 0, 10)).toEqual({ shown: items.slice(0, 10), next: '10' });
    expect(page(items, 95, 10)).toEqual({ shown: items.slice(95), next: null });
    const { shown, next } = page(items, 0, 1000);
    expect(shown.length).toBe(Number(next));
    expect(toJson(shown).length).toBeLessThan(41_000);
    expect(shown.length).toBeGreaterThan(40);
  });

  it('hold at least one item: a cursor always leads on', () => {
    const huge = Array.from({ length: 90_000 }, (_, i) => i);
    expect(page([huge, huge], 0, 10)).toMatchObject({ next: '1' });
    const budget = new Budget(5);
    expect([budget.take('a'), budget.take(huge), budget.take('b')]).toEqual([true, false, true]);
  });

  it('cut texts and say by how much', () => {
    expect(toJson({ text: 'x'.repeat(1003), n: 2n ** 60n, share: 1 / 3 })).toBe(
      `{"text":"${'x'.repeat(1000)}… (3 more characters)","n":"1152921504606846976","share":0.333333}`,
    );
  });

  it('cut lists within items and say how long they were', () => {
    const list = Array.from({ length: 60 }, (_, i) => ({ i }));
    const short = shortLists({ a: { list }, b: [1, 2], c: null, d: 5n }) as unknown as Record<
      string,
      unknown
    >;
    expect(short).toEqual({ a: { list: list.slice(0, 50), listCount: 60 }, b: [1, 2], c: null, d: 5n });
  });

  it('that would be too long all the same are errors that say so', () => {
    const result = success({ rows: Array.from({ length: 2000 }, () => 'z'.repeat(100)) });
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'CLI_USAGE' } });
  });

  it('that are errors carry code, place and advice', () => {
    const error = new UscopeError('FORMAT_MAGIC', 'no trace', { file: 'a', offset: 12n });
    expect(failure(error)).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'FORMAT_MAGIC: no trace (a, offset 12)' }],
      structuredContent: { code: 'FORMAT_MAGIC', detail: 'no trace', file: 'a', offset: '12' },
    });
  });
});

describe('a search for events that takes too long', () => {
  it('is cut at a segment, says how far it came, and continues from there', async () => {
    const builder = new TraceBuilder({ schema: coreSchema });
    for (const cycle of [0, 1, 2, 3]) {
      builder.segment({ frames: [frame(cycle * 1000, stage(1, 0), stage(2, 1), stage(3, 1))] });
    }
    const trace = await openTrace(memorySource(builder.finalize().bytes));
    const filter = new EventFilter(
      trace,
      ['stage_transition'],
      parseConditions({ event: [], where: [] }),
      true,
    );
    const call = { signal: new AbortController().signal, progress: () => undefined };
    const search = (cursor: string | undefined, limit: number) =>
      searchEvents(trace, filter, {}, { limit, cursor }, call, 0);
    const answers = [await search(undefined, 2)];
    while (answers.at(-1)?.more) answers.push(await search(answers.at(-1)?.cursor, 2));
    const whole = await searchEvents(trace, filter, {}, { limit: 100 }, call);
    expect(answers.flatMap(({ events }) => events)).toEqual(whole.events);
    expect(whole.events).toHaveLength(12);
    expect(answers.flatMap(({ searchedToPs }) => searchedToPs ?? [])).toEqual([1n, 1001n, 2001n]);
  });
});
