import type { Command } from 'commander';

/** The command with all its verbs, each with its options: for what describes the whole command line. */
export type LoadAllVerbs = () => Promise<Command>;
