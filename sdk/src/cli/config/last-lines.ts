const TAIL = 20;

/** The end of what a program printed: where its error is. */
export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-TAIL).join('\n');
}
