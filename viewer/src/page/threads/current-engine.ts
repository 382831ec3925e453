/** The workers of the picture that is shown. */
import type { Engine } from './engine.js';

let engine: Engine | null = null;

export function useEngine(next: Engine | null): void {
  engine = next;
}

export const currentEngine = (): Engine | null => engine;
