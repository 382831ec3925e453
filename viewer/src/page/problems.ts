/** What is wrong, each once. */

import { signal } from '@preact/signals';
import type { Problem } from '../data/protocol.js';
import { adviceFor } from './advice.js';

export const problems = signal<readonly Problem[]>([]);

export function addProblem(problem: Problem): void {
  const { code, what, isFatal } = problem;
  if (problems.peek().some((one) => one.code === code && one.what === what)) return;
  problems.value = [...problems.peek(), { ...problem, advice: problem.advice || adviceFor(code, !isFatal) }];
}

/** @param codes null: all */
export function removeProblems(codes: readonly string[] | null): void {
  const kept = codes === null ? [] : problems.peek().filter(({ code }) => !codes.includes(code));
  if (kept.length !== problems.peek().length) problems.value = kept;
}

/** What the page reports apart from the trace stays when another trace is opened. */
export const ofPage = ({ code }: Problem): boolean => code === 'VIEW_SLOW' || code === 'VIEW_STORAGE';
