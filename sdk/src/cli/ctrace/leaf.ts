import type { Leaf } from '../common/leaf.js';

export const CTRACE: Leaf = {
  verbs: {
    ctrace: {
      summary: "Chronon's .ctrace files, as its own reader prints them",
      load: () => import('./ctrace.js'),
    },
  },
};
