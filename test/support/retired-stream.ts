/** What sv/uscope_rvfi.sv records: instructions with what each of them did, and the rest of the events. */
import type { Trace } from '../../sdk/src/reader/index.js';

const CLEAR = 2;
const PROPERTY = 4;

export interface Fact {
  readonly event: string;
  readonly fields: Record<string, bigint>;
}

/** One instruction: times in ps, fields of its entity, events that name it (without `entity_id`) in order. */
export interface Retired {
  readonly time: number;
  end: number;
  readonly fields: Record<string, bigint>;
  readonly facts: Fact[];
}

export interface RetiredStream {
  readonly retired: Retired[];
  /** Events that belong to no instruction. */
  readonly others: (Fact & { readonly time: number })[];
  readonly frameTimes: number[];
}

/** The whole stream of a scope, in file order. */
export async function readRetired(trace: Trace, scope: string): Promise<RetiredStream> {
  const entities = trace.names.storage(`${scope}/entities`);
  const names = trace.schema.storages[entities.storageId]!.fields.map(({ name }) => name);
  const events = await eventsInOrder(trace);
  const live = new Map<number, Retired>();
  const stream: RetiredStream = { retired: [], others: [], frameTimes: [] };
  let time = 0;
  let next = 0;
  await trace.scan(
    {},
    {
      frame: (cursor) => {
        time = Number(cursor.timePs);
        stream.frameTimes.push(time);
      },
      op: ({ storageId, action, slot, field, value }) => {
        if (storageId !== entities.storageId || action === PROPERTY) return;
        if (action === CLEAR) {
          live.get(slot)!.end = time;
          live.delete(slot);
          return;
        }
        if (!live.has(slot)) {
          const born: Retired = { time, end: -1, fields: {}, facts: [] };
          live.set(slot, born);
          stream.retired.push(born);
        }
        live.get(slot)!.fields[names[field]!] = value;
      },
      event: () => {
        const { name, fields } = events[next++]!;
        const { entity_id: id, ...rest } = fields;
        if (id === undefined) stream.others.push({ time, event: name, fields });
        else live.get(Number(id))!.facts.push({ event: name, fields: rest });
      },
    },
  );
  return stream;
}

async function eventsInOrder(trace: Trace) {
  const result: { name: string; fields: Record<string, bigint> }[] = [];
  for await (const event of trace.events()) {
    result.push({ name: event.name.slice(event.name.lastIndexOf('/') + 1), fields: event.fields() });
  }
  return result;
}
