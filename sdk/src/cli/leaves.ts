/** The leaves of the command line, a line for each. Without a folder and its line everything else works: scripts/leaves.mjs proves it. */
export type { Leaf } from './common/leaf.js';
export { CTRACE } from './ctrace/leaf.js';
export { DATASET } from './dataset/leaf.js';
export { MCP } from './mcp/leaf.js';
