/** The MCP server: tools over named traces, on stdin and stdout. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { analyzePerformanceTool } from './tools/analyze-performance.js';
import { bufferOccupancyTool } from './tools/buffer-occupancy.js';
import { counterValuesTool } from './tools/counter-values.js';
import { diffTool } from './tools/diff.js';
import { entityTimelineTool } from './tools/entity-timeline.js';
import { fileInfoTool } from './tools/file-info.js';
import { type NamedFile, TraceFiles } from './tools/files.js';
import { findEventsTool } from './tools/find-events.js';
import { stateAtCycleTool } from './tools/state-at-cycle.js';
import { ToolRunner } from './tools/tool.js';

const INSTRUCTIONS = `Questions about µScope traces: what a hardware simulation did, cycle by cycle. Begin with file_info: it names the traces, \
their cores, storages, events and enum labels. Times are picoseconds (ps); cycles are those of a clock. Ranges include their start and \
exclude their end. Storages and events are named by scope path (core0/rob), or by their own name where only one has it. 64-bit \
integers are decimal strings. Answers are bounded: "more": true means that something was left out; ask again with the cursor, or for \
a smaller range.`;

/** Answers until stdin ends or a signal stops the process. */
export async function serveMcp(files: readonly NamedFile[], version: string): Promise<void> {
  const traces = new TraceFiles(files);
  const server = new McpServer({ name: 'uscope', version }, { instructions: INSTRUCTIONS });
  const runner = new ToolRunner(server, traces);
  runner.add(fileInfoTool);
  runner.add(stateAtCycleTool);
  runner.add(entityTimelineTool);
  runner.add(counterValuesTool);
  runner.add(bufferOccupancyTool);
  runner.add(analyzePerformanceTool);
  runner.add(findEventsTool);
  runner.add(diffTool);
  const ended = endOf(server);
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
  await traces.close();
}

/** The client has closed our stdin, or no longer reads, or a signal came: all are the ordinary end of a server of this kind. */
function endOf(server: McpServer): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => resolve();
    process.stdin.once('end', end);
    process.stdin.once('close', end);
    process.stdout.once('error', end);
    process.once('SIGINT', end);
    process.once('SIGTERM', end);
    server.server.onclose = end;
  });
}
