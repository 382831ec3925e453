/** Which cores a timeline of several shows, and which time. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, findCores } from '../../semantics/cpu/cores.js';
import { selected } from '../../semantics/timeline/selection.js';
import { io } from '../common/io.js';
import { shownName } from '../common/trace-file.js';
import { distinctNames } from '../runs/trace-set.js';
import { instructionJson } from './json.js';
import { type Request, resolveRange } from './range.js';
import { type Lane, rangeOf, type Span } from './together.js';

/** All cores, or those of the names. @throws UscopeError READER_NAME when one of them is nowhere */
export function lanesOf(
  files: readonly string[],
  traces: readonly Trace[],
  wanted: readonly string[],
): Lane[] {
  const found = traces.flatMap((trace, index) =>
    findCores(trace)
      .filter((core) => wanted.length === 0 || wanted.some((name) => isNamed(core, name)))
      .map((core) => ({ file: shownName(files[index]), trace, core })),
  );
  const missing = wanted.find((name) => !found.some(({ core }) => isNamed(core, name)));
  if (missing !== undefined || found.length === 0) {
    const what = missing === undefined ? 'cores (protocol "cpu")' : `core "${missing}"`;
    throw new UscopeError('READER_NAME', `none of the traces has ${what}`);
  }
  const names = distinctNames(found.map(({ file, core }) => ({ file, core: core.name })));
  return found.map((lane, index) => ({ ...lane, name: names[index] }));
}

const isNamed = ({ name }: CpuCore, wanted: string): boolean =>
  name === wanted || name.endsWith(`/${wanted}`);

/**
 * What is asked for, in time. It is understood as of the first core: its cycles, its instructions, its addresses; without a range the
 * timeline begins with the first instruction of any core.
 */
export async function commonSpan(lanes: readonly Lane[], request: Request): Promise<Span> {
  const asked = request.kind === 'default' ? lanes : lanes.slice(0, 1);
  const spans: Span[] = [];
  for (const { trace, core } of asked) {
    const { from, to } = await resolveRange(trace, core, request);
    spans.push({ fromPs: from * core.periodPs, toPs: to * core.periodPs });
  }
  return spans.reduce((first, span) => (span.fromPs < first.fromPs ? span : first));
}

/** One after the other; each instruction with its file, and its begin and end in ps, which compare across clocks. */
export async function printLanesJson(lanes: readonly Lane[], span: Span): Promise<void> {
  for (const lane of lanes) {
    const { name, file, trace, core } = lane;
    const range = rangeOf(lane, span);
    if (range.from * core.periodPs > trace.totalTimePs) continue;
    for await (const instruction of selected(trace, core, range)) {
      const { birthPs, endPs } = instruction;
      const times = { bornPs: birthPs?.toString() ?? null, endPs: endPs?.toString() ?? null };
      io.out(`${instructionJson(core, instruction, { file, lane: name, ...times })}\n`);
    }
  }
}
