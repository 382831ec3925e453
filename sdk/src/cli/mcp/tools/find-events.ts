/** Tool find_events: events by type, field values and range. */
import * as z from 'zod';
import type { Trace } from '../../../reader/index.js';
import { EventFilter, parseConditions } from '../../common/event-filter.js';
import { frameTime } from '../../common/item-format.js';
import type { TimeBounds } from '../../common/ranges.js';
import { Budget, ending, pairOf } from './answer.js';
import { boundsOf, cursor, file, limit, range } from './arguments.js';
import { type Call, defineTool } from './tool.js';

/** A search for something rare in a long trace is cut here, with a cursor: clients abandon calls after about a minute. */
const MAX_SEARCH_MS = 20_000;

export const findEventsTool = defineTool({
  name: 'find_events',
  title: 'Find events',
  description:
    'Events in the order of the trace, by type, field values and range. Field values are compared with what is printed: enum labels, texts, numbers (decimal or 0x…). A search that takes longer than 20 s is cut and says how far it came.',
  input: {
    file,
    events: z
      .array(z.string())
      .optional()
      .describe('Names of event types, such as core0/flush; default: all'),
    where: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Fields and the values they must have, such as {"reason": "mispredict"}; all must hold'),
    ...range,
    limit: limit(100, 1000),
    cursor,
  },
  run(args, call) {
    return call.files.use(args.file, async (trace, { name }) => {
      const where = Object.entries(args.where ?? {}).map(([field, value]) => `${field}=${value}`);
      const filter = new EventFilter(trace, args.events ?? [], parseConditions({ event: [], where }), true);
      const answer = await searchEvents(trace, filter, boundsOf(args, trace), args, call);
      return { file: name, ...answer };
    });
  },
});

export interface EventAnswer {
  readonly events: readonly unknown[];
  readonly more: boolean;
  readonly cursor?: string;
  /** Only when the time was up: everything before has been looked at. */
  readonly searchedToPs?: bigint;
}

/** The cursor is the time to continue at, and how many matching events of that time have been given. */
export async function searchEvents(
  trace: Trace,
  filter: EventFilter,
  range: TimeBounds,
  args: { readonly limit: number; readonly cursor?: string | undefined },
  { signal, progress }: Pick<Call, 'signal' | 'progress'>,
  maxMs = MAX_SEARCH_MS,
): Promise<EventAnswer> {
  const [from, given] = pairOf(args.cursor) ?? [range.from ?? 0n, 0];
  const budget = new Budget(args.limit);
  const events: unknown[] = [];
  const deadline = performance.now() + maxMs;
  const end = Number(range.to ?? trace.totalTimePs + 1n);
  const place = new Place(from, given);
  let next: string | null = null;
  let searchedTo: bigint | null = null;
  await trace.scan(
    { ...range, from },
    {
      segment: async (segment) => {
        signal.throwIfAborted();
        const { timeStartPs } = segment.header;
        if (timeStartPs > from && performance.now() > deadline) {
          searchedTo = timeStartPs;
          next = place.timePs === timeStartPs ? place.cursor() : `${timeStartPs}:0`;
          return false;
        }
        progress(Math.min(1, Number(timeStartPs) / end));
        await filter.loadStrings(segment);
        return true;
      },
      event: (cursor) => {
        const line = filter.line(cursor);
        if (line === null) return true;
        place.reach(BigInt(frameTime(cursor)));
        if (place.isGiven()) return true;
        const event = JSON.parse(line);
        delete event.op;
        if (!budget.take(event)) {
          next = place.cursor();
          return false;
        }
        events.push(event);
        place.give();
        return true;
      },
    },
  );
  return {
    events,
    ...ending(next),
    ...(searchedTo === null ? {} : { searchedToPs: searchedTo }),
  };
}

/** Where a search is among the matching events of one instant. */
class Place {
  private passed = 0;

  constructor(
    public timePs: bigint,
    private given: number,
  ) {}

  reach(timePs: bigint): void {
    if (timePs === this.timePs) return;
    this.timePs = timePs;
    this.passed = 0;
    this.given = 0;
  }

  /** True for an event that an answer before has given; it is passed over. */
  isGiven(): boolean {
    if (this.passed >= this.given) return false;
    this.passed++;
    return true;
  }

  give(): void {
    this.passed++;
    this.given++;
  }

  cursor(): string {
    return `${this.timePs}:${this.given}`;
  }
}
