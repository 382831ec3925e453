export function pinsModule(work: string): string;
