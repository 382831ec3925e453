import type { Leaf } from '../common/leaf.js';

export const MCP: Leaf = {
  verbs: {
    mcp: {
      summary: 'answer questions about traces over the Model Context Protocol',
      load: () => import('./verb.js'),
    },
  },
};
