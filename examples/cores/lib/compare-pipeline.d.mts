import type { Trace } from '../../../sdk/src/reader/index.js';

export function comparePipeline(
  trace: Trace,
  log: string,
): Promise<{
  readonly compared: number;
  readonly differences: number;
  readonly shown: readonly unknown[];
  readonly branches: readonly { readonly pc: number; readonly taken: boolean }[];
}>;
