import type { Leaf } from '../common/leaf.js';

export const MCP: Leaf = {
  verbs: {
    mcp: ['answer questions about traces over the Model Context Protocol', () => import('./verb.js')],
  },
};
