/** What a trace's shape depends on: counts the instructions of a log. */
import type { RetiredSink } from './sink.js';

export class RetiredCensus implements RetiredSink {
  instructions = 0;
  traps = 0;
  private readonly met = new Set<number>();
  private last = -1;

  /** Numbers of the harts, rising. */
  get harts(): number[] {
    return [...this.met].sort((a, b) => a - b);
  }

  begin(hart: number): void {
    this.instructions++;
    if (hart === this.last) return;
    this.last = hart;
    this.met.add(hart);
  }

  trap(hart: number): void {
    this.begin(hart);
    this.traps++;
  }

  interrupt(): void {}
  register(): void {}
  csr(): void {}
  store(): void {}
  load(): void {}
  note(): void {}
}
