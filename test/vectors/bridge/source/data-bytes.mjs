// @ts-check
/** Data messages by hand: the header of one, and the records of its payload. */
import { le, utf8 } from './bytes.mjs';

/**
 * @param {{magic?: number, flags?: number, headerSize?: number, trace?: number, epoch?: number, seq?: bigint, firstFrame?: bigint,
 *   payloadSize?: number, reserved?: number, reserved64?: bigint}} h
 */
export const header = (h) => [
  ...le(h.magic ?? 0x54414475, 4),
  ...le(h.flags ?? 0, 2),
  ...le(h.headerSize ?? 48, 2),
  ...le(h.trace ?? 3, 4),
  ...le(h.epoch ?? 65536, 4),
  ...le(h.seq ?? 0n, 8),
  ...le(h.firstFrame ?? 0n, 8),
  ...le(h.payloadSize ?? 16, 4),
  ...le(h.reserved ?? 0, 4),
  ...le(h.reserved64 ?? 0n, 8),
];

/** @param {number} action @param {number} storage @param {number} slot @param {number} field @param {bigint} value */
export const op = (action, storage, slot, field, value) => [
  0x01,
  action,
  ...le(storage, 2),
  ...le(slot, 2),
  ...le(field, 2),
  ...le(value, 8),
];
/** @param {number} storage @param {bigint} lanes */
export const addLanes = (storage, lanes) => [0x04, 0, ...le(storage, 2), ...le(0, 4), ...le(lanes, 8)];
/** @param {number} lanes @param {number} storage @param {number} slot @param {number} field @param {number[]} values eight */
export const setLanes = (lanes, storage, slot, field, values) => [
  0x05,
  lanes,
  ...le(storage, 2),
  ...le(slot, 2),
  ...le(field, 2),
  ...values,
];
/** @param {number} lanes @param {number} type @param {number} size @param {number} shift @param {number[]} values eight */
export const eventLanes = (lanes, type, size, shift, values) => [
  0x06,
  lanes,
  ...le(type, 2),
  size,
  shift,
  ...le(0, 2),
  ...values,
];
/** @param {number[]} bytes to a multiple of 16 */
export const padded = (bytes) => [...bytes, ...new Array((16 - (bytes.length % 16)) % 16).fill(0)];
/** @param {number} type @param {number[]} payload */
export const event = (type, payload) => [
  0x03,
  0,
  ...le(type, 2),
  ...le(payload.length, 4),
  ...[...payload, 0, 0, 0, 0, 0, 0, 0, 0].slice(0, 8),
  ...padded(payload.slice(8)),
];
/** @param {bigint} time */
export const begin = (time) => [0x10, 0, 0, 0, 0, 0, 0, 0, ...le(time, 8)];
/** @param {number} items @param {bigint} ordinal */
export const end = (items, ordinal) => [0x11, 0, 0, 0, ...le(items, 4), ...le(ordinal, 8)];
/** @param {bigint} index @param {string} text */
export const string = (index, text) => [
  0x12,
  0,
  0,
  0,
  ...le(utf8(text).length, 4),
  ...le(index, 8),
  ...padded(utf8(text)),
];
/** @param {number} storage @param {number} offset @param {number} total @param {number[]} part */
export const snapshot = (storage, offset, total, part) => [
  0x13,
  0,
  ...le(storage, 2),
  ...le(part.length, 4),
  ...le(offset, 4),
  ...le(total, 4),
  ...padded(part),
];
