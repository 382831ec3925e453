// @ts-check
/** Questions to the index of a trace of `ooo`, each at a place given as a share of the trace. */
import { ChannelKind } from 'uscope/trace-index';

/** @typedef {import('uscope/trace-index').TraceIndex} TraceIndex */
/** @typedef {(share: number) => Promise<unknown>} Ask */

const CORE = 'core0';
const RETIRED = { kind: ChannelKind.RETIRED, name: CORE };
const STALL = { channel: { kind: ChannelKind.STALLS, name: CORE } };
const FLUSH = { channel: { kind: ChannelKind.FLUSHES, name: CORE } };
/** Intervals of a picture, and cycles of one that is not of the whole trace. */
const WIDTH = 1200;
const WINDOW = 300_000;
const WINDOW_ROWS = 3_000_000;

/** null: the trace has no such thing. @type {Record<string, (index: TraceIndex) => Promise<Ask | null>>} */
export const QUESTIONS = {
  'retired per interval, whole trace': async (index) => () => index.series(RETIRED, { intervals: WIDTH }),
  'retired per interval, 300,000 cycles': async (index) => {
    const { to } = await index.extent(0);
    const width = Math.min(to, WINDOW);
    return (share) => {
      const from = Math.floor((to - width) * share);
      return index.series(RETIRED, { from, to: from + width, intervals: WIDTH });
    };
  },
  'row at a cycle': async (index) => {
    const { to } = await index.extent(0);
    return (share) => index.rowAt(0, Math.floor(to * share));
  },
  'cycle of a row': async (index) => {
    const rows = await index.birthsBefore(0, index.trace.segmentCount);
    return (share) => index.cycleOfRow(0, Math.floor(rows * share));
  },
  'rows added up, 3 M rows': async (index) => {
    const rows = await index.birthsBefore(0, index.trace.segmentCount);
    const width = Math.min(rows, WINDOW_ROWS);
    return (share) => {
      const from = Math.floor((rows - width) * share);
      return index.rowGroups(0, { from, to: from + width }, WIDTH);
    };
  },
  'retired number of a row': async (index) => {
    const rows = await index.birthsBefore(0, index.trace.segmentCount);
    return (share) => index.retiredBefore(0, Math.floor(rows * share));
  },
  'row of a retired number': async (index) => {
    const rows = await index.birthsBefore(0, index.trace.segmentCount);
    const retired = (await index.retiredBefore(0, rows)) ?? 0;
    return (share) => index.rowOfRetired(0, Math.floor(retired * share));
  },
  'next flush': async (index) => {
    const { to } = await index.extent(0);
    return (share) => index.next(FLUSH, Math.floor(to * share));
  },
  'next stall': async (index) => {
    if (!index.channels.some(({ kind }) => kind === ChannelKind.STALLS)) return null;
    const { to } = await index.extent(0);
    return (share) => index.next(STALL, Math.floor(to * share));
  },
  'flush before': async (index) => {
    const { to } = await index.extent(0);
    return (share) => index.previous(FLUSH, Math.floor(to * share));
  },
  'buffer at a cycle, with its instructions': async (index) => {
    const { to } = await index.extent(0);
    const { storages } = index.trace.schema;
    const buffer = storages.find(({ name }) => name === 'rob' || name === 'store_buffer');
    return (share) => index.bufferAt(0, `${CORE}/${buffer?.name}`, Math.floor((to - 1) * share));
  },
};
