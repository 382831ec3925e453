/** Tool entity_timeline: the lives of instructions. */
import * as z from 'zod';
import { UscopeError } from '../../../base/errors.js';
import type { Trace } from '../../../reader/index.js';
import { type CpuCore, findCore, type Instruction } from '../../../semantics/cpu/index.js';
import { instructions } from '../../../semantics/instructions/instructions.js';
import type { TimelineRange } from '../../../semantics/timeline/selection.js';
import { instructionJson } from '../../timeline/json.js';
import { type Request, resolveRange } from '../../timeline/range.js';
import { Budget, ending, offsetOf, shortLists } from './answer.js';
import { boundsOf, core, cursor, cycle, file, limit, type RangeInput, range } from './arguments.js';
import { type Call, defineTool } from './tool.js';

export const entityTimelineTool = defineTool({
  name: 'entity_timeline',
  title: 'Lives of instructions',
  description:
    'Instructions in flight in a range of cycles, in order of fetch, each with its whole life: address, disassembly, stages with cycles, stalls, dependencies, annotations, flush, trap, how it ended. Without a range: the first 60 cycles. With pc and no range: what was in flight around the first fetch of that address.',
  input: {
    file,
    core,
    ...range,
    pc: z
      .string()
      .regex(/^(0[xX][0-9a-fA-F]{1,16}|\d{1,20})$/)
      .optional()
      .describe(
        'An address such as 0x80000010. With a range: only instructions there; without: around its first fetch',
      ),
    entity: z.number().int().nonnegative().optional().describe('Only instructions with this entity id'),
    first_instruction: cycle
      .optional()
      .describe('In place of a range: number of an instruction, counted from 0 in order of fetch'),
    count: z.number().int().min(1).max(10_000).optional().describe('How many from first_instruction on (20)'),
    limit: limit(20, 200),
    cursor,
  },
  run(args, call) {
    return call.files.use(args.file, async (trace, { name }) => {
      const cpu = findCore(trace, args.core);
      const asked = await resolveRange(trace, cpu, requestOf(args, trace, cpu));
      const { found, next } = await collect(trace, cpu, asked, args, call);
      return {
        file: name,
        core: cpu.name,
        clock: cpu.clock?.name ?? null,
        fromCycle: asked.from,
        toCycle: asked.to,
        instructions: found,
        ...ending(next),
      };
    });
  },
});

interface Wanted extends RangeInput {
  readonly pc?: string | undefined;
  readonly entity?: number | undefined;
  readonly first_instruction?: number | string | undefined;
  readonly count?: number | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const DEFAULT_COUNT = 20;

function requestOf(args: Wanted, trace: Trace, cpu: CpuCore): Request {
  const { first_instruction, count = DEFAULT_COUNT, pc } = args;
  const { from, to } = boundsOf(args, trace, cpu.clock?.name);
  const hasRange = to !== undefined || (from ?? 0n) > 0n || args.from_cycle !== undefined;
  if (first_instruction !== undefined) {
    if (hasRange) throw new UscopeError('CLI_USAGE', 'give a range or first_instruction, not both');
    const first = BigInt(first_instruction);
    return { kind: 'instructions', from: first, to: first + BigInt(count) };
  }
  const search: Request = hasRange
    ? { kind: 'times', from: from ?? 0n, to: to ?? null }
    : { kind: 'default' };
  return pc !== undefined && !hasRange ? { kind: 'around', pc: BigInt(pc), search } : search;
}

async function collect(
  trace: Trace,
  cpu: CpuCore,
  asked: TimelineRange,
  args: Wanted,
  { signal }: Call,
): Promise<{ found: object[]; next: string | null }> {
  const { from, to, numbers } = asked;
  const budget = new Budget(args.limit);
  const skip = offsetOf(args.cursor);
  const found: object[] = [];
  let index = 0;
  const numbering = numbers ? 'always' : 'cheap';
  for await (const one of instructions(trace, cpu, { from, to, unit: 'cycles' }, { numbering })) {
    signal.throwIfAborted();
    if (numbers && one.seq !== null && one.seq >= numbers[1]) break;
    if (!isWanted(one, asked, args) || index++ < skip) continue;
    const json = jsonOf(cpu, one);
    if (!budget.take(json)) return { found, next: String(index - 1) };
    found.push(json);
  }
  return { found, next: null };
}

function isWanted({ seq, pc, id }: Instruction, asked: TimelineRange, args: Wanted): boolean {
  if (asked.numbers && (seq === null || seq < asked.numbers[0])) return false;
  // Around an address its neighbours are wanted too.
  if (args.pc !== undefined && asked.pc === null && pc !== BigInt(args.pc)) return false;
  return args.entity === undefined || id === args.entity;
}

/** As `uscope timeline --json`, without what is empty, and with hexadecimal addresses. */
function jsonOf(cpu: CpuCore, instruction: Instruction): object {
  const { core: _, bits: _bits, ...json } = JSON.parse(instructionJson(cpu, instruction));
  json.pc = hex(json.pc);
  for (const dependency of json.dependencies) dependency.pc = hex(dependency.pc);
  const filled = Object.entries(json).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return shortLists(Object.fromEntries(filled));
}

function hex(decimal: string | null): string | null {
  return decimal === null ? null : `0x${BigInt(decimal).toString(16)}`;
}
