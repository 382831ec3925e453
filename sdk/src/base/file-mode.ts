/**
 * Modes of what is written, before the umask takes bits away. Whatever says what was traced is for its owner, and for the group that the directory
 * gives it to; never for everyone on the machine (docs/explanation/threat-model.md).
 */
export const OUTPUT_MODE = 0o640;
export const OUTPUT_DIRECTORY_MODE = 0o750;
/** What only the process itself reads. */
export const PRIVATE_MODE = 0o600;
