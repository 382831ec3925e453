/** What `FrameCursor.run` takes as ordinary, and which handlers it calls. */
import type { FrameCursor } from './frame-cursor.js';
import { packedSize, type Schema } from './types.js';

/** One entry for each of the 65,536 ids: the caller need not look whether an id exists. */
export interface ItemLimits {
  /** Number of fields << 16 | last slot, in one word as an op has them; 0, which nothing passes, for storages that do not exist. */
  readonly storages: Uint32Array;
  /** Number of properties. */
  readonly properties: Uint32Array;
  /** `NO_EVENT` for types that do not exist. */
  readonly payloadSizes: Uint32Array;
}

/** Who is given frames and items; what is absent is walked over. Returning false stops it. */
export interface ItemVisitor {
  frame?(cursor: FrameCursor): unknown;
  op?(cursor: FrameCursor): unknown;
  event?(cursor: FrameCursor): unknown;
}

const ID_COUNT = 0x1_0000;
const NO_EVENT = 0xffff_ffff;
const MAX_SLOT = 0xffff;

export function itemLimits({ storages, events }: Schema): ItemLimits {
  const limits = {
    storages: new Uint32Array(ID_COUNT),
    properties: new Uint32Array(ID_COUNT),
    payloadSizes: new Uint32Array(ID_COUNT).fill(NO_EVENT),
  };
  limits.storages.set(
    storages.map(({ numSlots, fields }) =>
      numSlots === 0 ? 0 : (fields.length << 16) | Math.min(numSlots - 1, MAX_SLOT),
    ),
  );
  limits.properties.set(storages.map(({ properties }) => properties.length));
  limits.payloadSizes.set(events.map(({ fields }) => packedSize(fields)));
  return limits;
}
