/** `uscope completion`: scripts that complete the command line, made from the commands as they are. */
import { Argument, type Command } from 'commander';
import { io } from '../common/io.js';
import { bashCompletion } from '../completion/bash.js';
import { fishCompletion } from '../completion/fish.js';
import { type CommandModel, describeCommand } from '../completion/model.js';
import { zshCompletion } from '../completion/zsh.js';

const SHELLS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Record<string, (model: CommandModel) => string>;

export function register(command: Command, loadAllVerbs: () => Promise<Command>): void {
  command
    .description(
      'Prints a script that completes verbs, options and files. The script holds all words, so completing starts no program.',
    )
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => {
      io.out(SHELLS[shell](describeCommand(await loadAllVerbs())));
    });
}
