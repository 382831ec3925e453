// @ts-check
/** The trace that is recorded while power fails, and how it is read back. */

export const FRAMES_PER_SEGMENT = 8;
export const PERIOD_PS = 1000;
export const SESSION = Uint8Array.from({ length: 16 }, (_, i) => i + 1);

/**
 * Everything of a trace, as text: its frames, its strings.
 * @param {Pick<import('./power.mjs').Library, 'openTrace' | 'memorySource'>} library
 * @param {Uint8Array} bytes
 */
export async function readTrace(library, bytes) {
  const { openTrace, memorySource } = library;
  const trace = await openTrace(memorySource(bytes));
  const frames = [];
  for await (const { timePs, items } of trace.frames()) {
    const texts = items.map((item) =>
      item.kind === 'op' ? Object.values(item).join() : [...item.payload].join(),
    );
    frames.push(`${timePs}: ${texts.join('; ')}`);
  }
  const strings = [];
  const count = await trace.strings.count();
  for (let index = 0; index < count; index++) strings.push((await trace.strings.get(index)) ?? '');
  // The state after the last frame is asked too: it comes from a checkpoint and its segment's frames.
  await trace.stateAt(trace.totalTimePs);
  return { frames, strings };
}

/**
 * A counter, an entity, a property, and in every fifth frame a string with the event that names it: some frames take several sectors.
 * @param {InstanceType<import('./power.mjs').Library['RecordBatch']>} batch
 * @param {number} frame
 */
export function appendFrame(batch, frame) {
  const hasString = frame % 5 === 0;
  const index = frame / 5;
  if (hasString)
    batch.string(index, new TextEncoder().encode(`text ${frame} ${'x'.repeat((frame * 37) % 400)}`));
  batch.begin(BigInt(frame * PERIOD_PS));
  batch.op(3, 1, 0, 0, 1, 0);
  batch.op(1, 0, frame % 16, 1, (frame * 2654435761) >>> 0, frame);
  batch.op(4, 2, 0, 0, frame & 0xffff, 0);
  if (hasString) {
    const { view, offset } = batch.event(0, 8);
    view.setUint32(offset, frame, true);
    view.setUint32(offset + 4, index, true);
  }
  batch.end(hasString ? 4 : 3, frame);
}

/** @param {string} name @param {number} type */
const field = (name, type, role = 0) => ({ name, type, enumId: 0, role, pairId: 0 });
const [U16, U32, U64, STRING_REF] = [2, 3, 4, 10];
/** @type {any} */
export const SCHEMA = {
  clocks: [{ name: 'core_clk', clockId: 0, periodPs: PERIOD_PS }],
  scopes: [
    { name: 'root', scopeId: 0, parentId: 0xffff, protocol: null, clockId: 0xff },
    { name: 'core0', scopeId: 1, parentId: 0, protocol: 'cpu', clockId: 0 },
  ],
  enums: [],
  storages: [
    {
      name: 'entities',
      storageId: 0,
      numSlots: 16,
      flags: 1,
      scopeId: 1,
      fields: [field('entity_id', U32), field('pc', U64)],
      properties: [],
    },
    {
      name: 'cycles',
      storageId: 1,
      numSlots: 1,
      flags: 0,
      scopeId: 1,
      fields: [field('count', U64)],
      properties: [],
    },
    {
      name: 'rob',
      storageId: 2,
      numSlots: 8,
      flags: 3,
      scopeId: 1,
      fields: [field('entity_id', U32)],
      properties: [field('retire_ptr', U16, 1)],
    },
  ],
  events: [
    {
      name: 'annotate',
      eventTypeId: 0,
      scopeId: 1,
      fields: [field('entity_id', U32), field('text', STRING_REF)],
    },
  ],
  summaryFields: [],
};

/** @param {number} seed @returns {(below: number) => number} */
export function generator(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}
