/** Lines taken from their bytes, against the parser that makes a record of each. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { isUscopeError } from '../../base/errors.js';
import { memorySource } from '../../reader/index.js';
import type { TextBytes } from '../text/text-bytes.js';
import { KanataReader } from './reader.js';
import { type KanataVisitor, visitRecord } from './visitor.js';

/** What was visited, as text; and the error in which it ended. */
class Log implements KanataVisitor {
  readonly lines: string[] = [];
  readonly isFull = false;
  async push(): Promise<void> {}
  cycle = (...args: unknown[]): void => this.add('cycle', args);
  advance = (...args: unknown[]): void => this.add('advance', args);
  begin = (...args: unknown[]): void => this.add('begin', args);
  label = (id: number, type: number, text: TextBytes): void => this.add('label', [id, type, `${text}`]);
  start = (...args: unknown[]): void => this.add('start', args);
  end = (...args: unknown[]): void => this.add('end', args);
  retire = (...args: unknown[]): void => this.add('retire', args);
  dependency = (...args: unknown[]): void => this.add('dependency', args);
  private add(name: string, args: readonly unknown[]): void {
    this.lines.push([name, ...args].join(' '));
  }
}

async function attempt(log: Log, visit: () => Promise<void>): Promise<string[]> {
  try {
    await visit();
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    log.lines.push(error.message);
  }
  return log.lines;
}

const column = fc.oneof(
  { weight: 6, arbitrary: fc.nat(99).map(String) },
  fc.constantFrom('', ' 7', '7 ', '-1', '123456789012345', '1234567890123456', '99999999999999999999', 'x'),
  fc.constantFrom('F', 'Wb', 'a stage', 'µ', '80000000: addi x1,x2', 'text with\\n', 'tail\r'),
);
const line = fc
  .tuple(
    fc.constantFrom('C', 'C=', 'I', 'L', 'S', 'E', 'R', 'W', 'X', '', ' S'),
    fc.array(column, { minLength: 2, maxLength: 4 }),
    fc.constantFrom('\n', '\n', '\n', '\r\n'),
  )
  .map(([command, columns, end]) => [command, ...columns].join('\t') + end);

it('say what the parser says, and fail where it fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.boolean(), async (lines, isCut) => {
      const text = `Kanata\t0004\n${lines.join('')}`;
      const bytes = new TextEncoder().encode(isCut ? text.trimEnd() : text);
      const [quick, slow] = [new Log(), new Log()];
      const said = await attempt(quick, () => new KanataReader(memorySource(bytes, 'log')).visit(quick));
      const expected = await attempt(slow, async () => {
        for await (const { record } of new KanataReader(memorySource(bytes, 'log')).records())
          visitRecord(record, slow);
      });
      expect(said).toEqual(expected);
    }),
    { numRuns: cases(300) },
  );
});
