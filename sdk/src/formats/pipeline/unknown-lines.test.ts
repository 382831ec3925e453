/** A line that is not understood costs that line alone, wherever it is in a log. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf } from '../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { contentsOf } from '../../../../test/support/same-trace.js';
import { memorySource } from '../../reader/index.js';
import type { ForeignFormat } from '../common/foreign-format.js';
import { FORMAT as GEM5 } from '../gem5/format.js';
import { FORMAT as KONATA } from '../konata/format.js';

limitOfFile(MANY_CASES_MS);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-unknown-lines-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const CASES: readonly { format: ForeignFormat; vector: string; lines: readonly string[] }[] = [
  {
    format: KONATA,
    vector: 'konata/two-threads.kanata',
    lines: [
      ...[
        'X\t1',
        'hello',
        'C\t-1',
        'C',
        'I\t9\t0',
        'I\t-1\t0\t0',
        'I\t9\t0\t4294967296',
        'S\t0\t0\t ',
        'S\t0\t0',
      ],
      ...[
        'S\t0\t65536\tF',
        'L\tx\t0\ttext',
        'L\t0\t256\ttext',
        'R\t0\t1e3\t0',
        'R\t0\t0\tF',
        'W\t1\t-1\t0',
        '\u0001\u0002',
      ],
    ],
  },
  {
    format: GEM5,
    vector: 'gem5/window.out',
    lines: [
      ...['O3PipeView:walk:20', 'O3PipeView:decode:x', 'O3PipeView:decode:20:store:3', 'O3PipeView:'],
      ...['O3PipeView:fetch:10:0x4:0', 'O3PipeView:fetch:10:zz:0:1: nop', 'system.cpu: O3PipeView:retire:'],
    ],
  },
];

describe.each(CASES)('$format.name', ({ format, vector, lines }) => {
  const log = readFileSync(
    fileURLToPath(new URL(`../../../../test/vectors/${vector}`, import.meta.url)),
    'utf8',
  )
    .trimEnd()
    .split('\n');

  async function converted(text: readonly string[], options: Record<string, string> = {}) {
    const context = contextOf(options);
    const source = memorySource(new TextEncoder().encode(`${text.join('\n')}\n`), 'log');
    const foreign = await format.open!(source, context.options);
    const path = join(directory, 'out.uscope');
    rmSync(path, { force: true });
    await foreign.toUscope({ path }, context);
    const unknown = context.report.rows.find(({ what }) => what === 'lines not understood')?.count;
    return { trace: contentsOf(path), unknown: Number(unknown ?? 0), warnings: context.warnings.join('\n') };
  }

  it('is counted and quoted once, and everything else is as without it', async () => {
    const { trace } = await converted(log);
    for (const [index, line] of lines.entries()) {
      for (let at = 1; at <= log.length; at++) {
        // Every line is at each place once in many runs; here at every third one.
        if ((at + index) % 3 !== 0) continue;
        const { unknown, warnings, ...found } = await converted(log.toSpliced(at, 0, line));
        expect([unknown, found.trace], `${JSON.stringify(line)} at ${at}`).toEqual([1, trace]);
        expect(warnings).toContain(JSON.stringify(line));
      }
    }
  });

  it('above a share the import fails, and the option says which', async () => {
    const many = log.flatMap((line) => [line, lines[0]!]);
    const share = converted(many);
    await expect(share).rejects.toMatchObject({ code: 'CONVERT_FORMAT' });
    await expect(share).rejects.toThrow(JSON.stringify(lines[0]));
    expect((await converted(many, { unknown: '60' })).unknown).toBe(log.length);
  });
});
