export function middle(times: readonly number[]): {
  readonly seconds: number;
  readonly spread: number | null;
};
