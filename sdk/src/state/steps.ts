/** Work that may be done a part at a time, so that others of its thread have their turn in between. */
export interface Steps {
  readonly isDone: boolean;
  /** Does about as much as loading or saving this number of cells takes. @throws what is wrong with the input; nothing may follow then */
  step(cells: number): void;
}

/** One after the other; each begins when the one before it is done. */
export class StepSequence implements Steps {
  private current: Steps | null = null;

  constructor(private readonly rest: (() => Steps)[]) {}

  get isDone(): boolean {
    return this.rest.length === 0 && (this.current === null || this.current.isDone);
  }

  step(cells: number): void {
    if (this.current === null || this.current.isDone) this.current = this.rest.shift()?.() ?? null;
    this.current?.step(cells);
  }
}

export function finish(steps: Steps): void {
  while (!steps.isDone) steps.step(Number.POSITIVE_INFINITY);
}
