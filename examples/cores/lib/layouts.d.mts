export function layoutsOf(program: string, count: number, libraries?: readonly string[]): string[];
