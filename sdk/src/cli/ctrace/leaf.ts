import type { Leaf } from '../common/leaf.js';

export const CTRACE: Leaf = {
  verbs: {
    ctrace: ["Chronon's .ctrace files, as its own reader prints them", () => import('./ctrace.js')],
  },
};
