/**
 * A search in slices: each answer has the hits of some milliseconds, and the next one continues. Asked in the worker that only searches, since an
 * expression may take for ever: `page/threads/question-thread.ts`.
 */
import * as cpu from 'uscope/cpu';
import { type Found, type FoundEvent, find as findAll, parsePattern } from 'uscope/search';
import { searchIndex } from 'uscope/trace-index';
import { type HitBatch, MAX_LISTED_HITS } from '../../model/hits.js';
import type { Question, QuestionContext } from './question.js';

interface FindArgs {
  /** Counts the searches of the page: a new number begins, the same one continues. */
  readonly search: number;
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly budgetMs: number;
}

interface FindAnswer extends HitBatch {
  readonly isDone: boolean;
  /** Part of the trace looked through, 0 to 1. */
  readonly progress: number;
}

interface Running {
  readonly search: number;
  readonly found: AsyncGenerator<readonly Found[]>;
  readonly controller: AbortController;
  listed: number;
  progress: number;
}

/** One at a time: a new one ends the one before. */
let running: Running | null = null;

export const find: Question<FindArgs, FindAnswer> = async (args, context, signal) => {
  if (running?.search !== args.search) running = begin(args, context);
  const { found, controller } = running;
  const current = running;
  const end = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  const collected: Found[] = [];
  const until = performance.now() + args.budgetMs;
  let isDone = false;
  try {
    while (!isDone && performance.now() < until) {
      const { value, done } = await found.next();
      isDone = done === true;
      if (value) for (const one of value) collected.push(one);
    }
  } finally {
    signal.removeEventListener('abort', end);
  }
  const batch = await new Batch(context, current).of(collected);
  if (isDone) running = null;
  return { ...batch, isDone, progress: isDone ? 1 : current.progress };
};

function begin({ search, pattern, ignoreCase }: FindArgs, context: QuestionContext): Running {
  const { trace, core } = context;
  const index = context.indexNow();
  const { finds, terms } = parsePattern(pattern, { ignoreCase });
  // Events may be of any scope; instructions and reasons are those of the core shown.
  const isAnywhere = finds === 'events' && terms.every((term) => term.kind === 'event' && term.role === null);
  running?.controller.abort(new Error('another search has begun'));
  const controller = new AbortController();
  const one: Running = {
    search,
    controller,
    listed: 0,
    progress: 0,
    found: findAll(trace, pattern, {
      ignoreCase,
      signal: controller.signal,
      ...(core && !isAnywhere ? { cores: [core] } : {}),
      ...(index ? { index: searchIndex(index) } : {}),
      progress: (part) => {
        one.progress = part;
      },
      // Messages are taken between two blocks.
      pause: () => new Promise((resolve) => setTimeout(resolve)),
    }),
  };
  return one;
}

class Batch {
  constructor(
    private readonly context: QuestionContext,
    private readonly running: Running,
  ) {}

  async of(found: readonly Found[]): Promise<HitBatch> {
    const { running } = this;
    const subjects = await this.subjects(found.filter((one) => one.kind === 'event'));
    const texts = found.slice(0, Math.max(0, MAX_LISTED_HITS - running.listed)).map(textOf);
    running.listed += texts.length;
    const cycles = Float64Array.from(found, ({ timePs }) => Number((timePs ?? 0n) / this.context.periodPs));
    const rows = Float64Array.from(found, (one) =>
      one.kind === 'instruction' ? one.row : (subjects.get(one) ?? -1),
    );
    const ids = Float64Array.from(found, (one) => (one.kind === 'instruction' ? one.id : (idOf(one) ?? -1)));
    return { rows, cycles, ids, texts };
  }

  /** The rows of the instructions that events name. */
  private async subjects(events: readonly FoundEvent[]): Promise<Map<FoundEvent, number>> {
    const rows = new Map<FoundEvent, number>();
    const { trace, core } = this.context;
    const isOwn = ({ event }: FoundEvent): boolean =>
      this.context.info.cores.length === 1 || event.startsWith(`${core?.name}/`);
    const naming = events.filter((one) => idOf(one) !== null && isOwn(one));
    const [first, last] = [naming[0], naming.at(-1)];
    if (!core?.entities || !first || !last) return rows;
    const byId = new Map<number, FoundEvent[]>();
    for (const one of naming) {
      const same = byId.get(idOf(one)!);
      if (same) same.push(one);
      else byId.set(idOf(one)!, [one]);
    }
    const range = { from: first.timePs, to: last.timePs + 1n };
    const options = { lookahead: 0, stages: 'range' } as const;
    for await (const block of cpu.instructionBlocks(trace, core, range, options)) {
      for (let row = 0; row < block.count; row++) {
        for (const one of byId.get(block.id[row]!) ?? []) {
          // The later one of two that have the id in one cycle.
          if (isAlive(block, row, one.timePs)) rows.set(one, cpu.rowNumber(block, row));
        }
      }
    }
    return rows;
  }
}

function isAlive(block: cpu.InstructionBlock, row: number, timePs: bigint): boolean {
  const birth = cpu.birthTick(block, row);
  const end = cpu.endTick(block, row);
  return (birth < 0 || cpu.psOf(block, birth) <= timePs) && (end < 0 || cpu.psOf(block, end) >= timePs);
}

function idOf({ fields }: FoundEvent): number | null {
  const id = fields.entity_id ?? fields.dst_id;
  return id === undefined ? null : Number(id);
}

function textOf(found: Found): string {
  if (found.kind === 'event') {
    const fields = Object.entries(found.fields).map(([name, value]) => `${name}=${value}`);
    return [found.event, ...fields].join(' ');
  }
  const { pc, text, annotation, end } = found;
  return [
    ...(pc === null ? [] : [pc.toString(16).padStart(8, '0')]),
    text,
    ...(annotation !== null && annotation !== text ? [annotation] : []),
    ...(end === 'retired' ? [] : [`(${end})`]),
  ].join('  ');
}
