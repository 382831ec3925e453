/** Tool diff: the first difference between two traces. */
import * as z from 'zod';
import { UscopeError } from '../../../base/errors.js';
import type { Trace } from '../../../reader/index.js';
import { type DiffReport, diffRetiredCores, diffTraces } from '../../../tools/diff/index.js';
import { RETIRED_VALUES, retiredCores } from '../../diff/retired-cores.js';
import { shortLists } from './answer.js';
import { boundsOf, range } from './arguments.js';
import { type Call, defineTool } from './tool.js';

const input = {
  a: z.string().describe('Name of a trace (see file_info)'),
  b: z.string().describe('Name of another one'),
  by: z.enum(['time', 'state', 'retired']).default('time'),
  cores: z
    .array(z.object({ a: z.string(), b: z.string() }))
    .default([])
    .describe('Which core or scope of a is compared with which of b; default: those of equal names'),
  ...range,
  ignore_order: z.boolean().default(false).describe('By time: any order within an instant will do'),
  common_only: z.boolean().default(false).describe('What only one trace has is not a difference'),
  first_only: z.boolean().default(false).describe('Look for the first difference alone: quicker, no summary'),
  context: z.number().int().min(0).max(20).default(5).describe('Items shown around the first difference'),
};

export const diffTool = defineTool({
  name: 'diff',
  title: 'Compare two traces',
  description:
    'The first difference between two traces, its context, and a summary. By "time": the same items at the same times; by "state": what the storages hold after each instant; by "retired": the same instructions whenever they retire, for runs with different timing. Reads both traces over the whole range.',
  input,
  run(args, call) {
    const { files } = call;
    if (files.find(args.a) === files.find(args.b)) {
      throw new UscopeError('CLI_USAGE', `"${args.a}" cannot be compared with itself; name two traces`);
    }
    return files.use(args.a, (a) =>
      files.use(args.b, async (b) => shortLists(await compare(a, b, args, call))),
    );
  },
});

async function compare(
  a: Trace,
  b: Trace,
  args: z.output<z.ZodObject<typeof input>>,
  { progress, signal }: Call,
): Promise<DiffReport> {
  const range = boundsOf(args, a);
  const { context, cores: scopes, common_only: commonOnly, first_only: stopAtFirst } = args;
  const common = { context, commonOnly, stopAtFirst, signal };
  if (args.by !== 'retired') {
    const [inA, inB] = [
      { trace: a, name: args.a },
      { trace: b, name: args.b },
    ];
    const ignoreOrder = args.ignore_order;
    return diffTraces(args.by, inA, inB, { ...common, scopes, range, ignoreOrder, onProgress: progress });
  }
  const { cores, onlyA, onlyB } = await retiredCores(a, b, scopes, range);
  return diffRetiredCores(args.a, args.b, cores, onlyA, onlyB, { ...common, compare: RETIRED_VALUES });
}
