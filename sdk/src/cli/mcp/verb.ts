/** `uscope mcp`: a server for assistants that speak the Model Context Protocol. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { nameFiles } from './tools/files.js';

export function register(command: Command): void {
  command
    .description(
      'Serves tools for the traces named, over stdin and stdout, to an MCP client, which starts this command. Traces may still be growing; each is opened at its first use.',
    )
    .argument('<file...>', 'trace files or URLs, each as FILE or NAME=FILE')
    .action(async (args: readonly string[]) => {
      const files = nameFiles(args);
      // The protocol's library is large: no other verb loads it.
      const { serveMcp } = await import('./server.js');
      await serveMcp(files, version());
    });
}

function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
