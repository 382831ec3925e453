export { snapshotSize } from './checkpoint-state.js';
export { DEFAULT_MAX_STATE_BYTES, type StateLayout, stateLayout } from './layout.js';
export { StorageState } from './storage-state.js';
