/** What slice, merge and diff share: traces as streams of frames and items, and the way into a new trace. */
export { type AtomicOptions, writeAtomically } from '../writer/output/atomic-file.js';
export { FrameCopier, type IdMap, identityMap } from './frame-copier.js';
export { errorIn, FrameStream, ItemStream } from './item-stream.js';
export { placeState } from './place-state.js';
export { findOverflow, SlotOverflow } from './slot-overflow.js';
export { readU32, StringRefs } from './string-refs.js';
export { StringOutput, StringRemap } from './string-remap.js';
export { endOf, TraceOutput, withOutput } from './trace-output.js';
