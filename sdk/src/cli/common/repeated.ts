/** Gathers the values of an option that may be repeated: `.option(FLAGS, TEXT, append, [])`. */
export const append = (value: string, all: readonly string[] = []): string[] => [...all, value];
