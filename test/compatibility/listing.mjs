// @ts-check
/**
 * What a trace holds, as plain JSON: the contents of a stored file are compared with the listing stored next to it. It is built from values that
 * every release has - names, numbers, bytes - and never from the shape of a release's own objects.
 */

import { writeFileSync } from 'node:fs';

/** @typedef {import('uscope').Trace} Trace */
/** @typedef {import('uscope').Schema} Schema */
/** @typedef {import('uscope').FieldDef} FieldDef */
/** @typedef {import('uscope').Item} Item */
/** @typedef {ReturnType<typeof listSchema>} SchemaListing */
/**
 * @typedef {object} Listing
 * @property {boolean} complete
 * @property {string} compression `none`, `lz4` or `zstd`
 * @property {string} interval checkpoint interval in ps
 * @property {string} totalTime time of the last frame in ps; of a live trace the end of its last segment
 * @property {null | Record<string, unknown>} session
 * @property {[string, string][]} dut
 * @property {SchemaListing} schema
 * @property {string[]} strings
 * @property {string[]} segments `start end frames`, times in ps
 * @property {string[]} frames one line for each: its time in ps, then its items
 * @property {string[]} state the state at the end: one line for each slot and property that is not zero
 * @property {null | Record<string, unknown>} summary
 */

const TYPES = ['', 'u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64', 'bool', 'string', 'enum'];
const ACTIONS = ['', 'set', 'clear', 'add', 'prop'];

/** @param {Uint8Array} bytes */
const hex = (bytes) => Buffer.from(bytes).toString('hex');

/** @param {FieldDef} field */
const listField = ({ name, type, enumId }) => `${name}: ${TYPES[type]}${type === 11 ? ` ${enumId}` : ''}`;

/** @param {Schema} schema */
export function listSchema({ clocks, scopes, enums, storages, events, summaryFields }) {
  return {
    clocks: clocks.map(({ name, periodPs }) => `${name} ${periodPs}`),
    scopes: scopes.map((s) => `${s.name} in ${s.parentId}, protocol ${s.protocol}, clock ${s.clockId}`),
    enums: enums.map(
      ({ name, values }) => `${name}: ${values.map((v) => `${v.name} ${v.value}`).join(', ')}`,
    ),
    storages: storages.map((s) => ({
      name: `${s.name} in ${s.scopeId}, ${s.numSlots} slots, flags ${s.flags}`,
      fields: s.fields.map(listField),
      properties: s.properties.map((p) => `${listField(p)}, role ${p.role}, pair ${p.pairId}`),
    })),
    events: events.map((e) => ({ name: `${e.name} in ${e.scopeId}`, fields: e.fields.map(listField) })),
    summary: summaryFields.map((f) => `${f.name}: ${TYPES[f.type]} in ${f.scopeId}`),
  };
}

/** @param {Item} item */
export function listItem(item) {
  if (item.kind === 'event') return `event ${item.eventTypeId} ${hex(item.payload)}`.trimEnd();
  const { action, storageId, slot, field, value } = item;
  if (ACTIONS[action] === 'clear') return `clear ${storageId} ${slot}`;
  if (ACTIONS[action] === 'prop') return `prop ${storageId} ${field} = ${value}`;
  return `${ACTIONS[action]} ${storageId} ${slot} ${field} = ${value}`;
}

/** @param {{ timePs: bigint, items: readonly Item[] }} frame */
export const listFrame = ({ timePs, items }) => [String(timePs), ...items.map(listItem)].join(' | ');

/** @param {Trace} trace */
export async function listTrace(trace) {
  const frames = [];
  for await (const frame of trace.frames()) frames.push(listFrame(frame));
  const strings = [];
  for (let i = 0; i < (await trace.strings.count()); i++) strings.push((await trace.strings.get(i)) ?? '?');
  const flags = Number(trace.header.flags);
  /** @type {Listing} */
  const listing = {
    complete: trace.isComplete,
    compression: flags & 2 ? (['lz4', 'zstd'][(flags >> 3) & 7] ?? '?') : 'none',
    interval: String(trace.config.checkpointIntervalPs),
    totalTime: String(trace.totalTimePs),
    session: listSession(trace.session),
    dut: trace.dut.map(([key, value]) => [key, value]),
    schema: listSchema(trace.schema),
    strings,
    segments: await listSegments(trace),
    frames,
    state: frames.length > 0 ? await listState(trace) : [],
    summary: listSummary(await trace.summary()),
  };
  return listing;
}

/** @param {Trace['session']} session */
function listSession(session) {
  if (session === null) return null;
  const { sessionId, runId, coreIndex, status, lost, rejected, ring } = session;
  return {
    session: hex(sessionId),
    run: hex(runId),
    core: coreIndex,
    status,
    lost: String(lost),
    rejected: String(rejected),
    ...(ring
      ? {
          ring: [ring.firstFrame, ring.nextString, ring.items].map(String),
        }
      : {}),
  };
}

/** @param {Trace} trace */
async function listSegments(trace) {
  const lines = [];
  for (const [index, { timeStartPs, timeEndPs }] of (await trace.segments()).entries()) {
    const { header } = await trace.loadSegment(index);
    lines.push(`${timeStartPs} ${timeEndPs} ${header.numFrames}`);
  }
  return lines;
}

/** @param {Trace} trace */
async function listState(trace) {
  const state = await trace.stateAt(trace.totalTimePs);
  const lines = [];
  for (const { storageId, numSlots, fields, properties } of trace.schema.storages) {
    for (let slot = 0; slot < numSlots; slot++) {
      if (!state.slotValid(storageId, slot)) continue;
      const values = fields.map((_, field) => state.slotField(storageId, slot, field));
      if (values.some((value) => value !== 0n)) lines.push(`${storageId}[${slot}] ${values.join(' ')}`);
    }
    const values = properties.map((_, index) => state.property(storageId, index));
    if (values.some((value) => value !== 0n)) lines.push(`${storageId} properties ${values.join(' ')}`);
  }
  return lines;
}

/** @param {Awaited<ReturnType<Trace['summary']>>} summary */
function listSummary(summary) {
  if (summary === null) return null;
  const { baseIntervalCycles, fanOut, totalInstructions, density, counters } = summary;
  return {
    interval: baseIntervalCycles,
    fanOut,
    instructions: String(totalInstructions),
    density: density.map((level) => [...level].join(' ')),
    counters: counters.map(({ name, storageId, levels }) => ({
      name: `${name} ${storageId}`,
      levels: levels.map(({ min, max, sum }) => [...sum.keys()].map((i) => `${min[i]} ${max[i]} ${sum[i]}`)),
    })),
  };
}

/** @param {string} path @param {unknown} value */
export const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 1)}\n`);
