/** The address that the text next to an instruction begins with. */

const WITH_PREFIX = /^\s*0[xX]([0-9a-fA-F]{1,16})(?![0-9a-zA-Z])/;
const BEFORE_COLON = /^\s*([0-9a-fA-F]{1,16}):/;
/** Without prefix and colon it could be a word (`add`): at least four digits, one of them decimal. */
const BARE = /^\s*(?=[0-9a-fA-F]*\d)([0-9a-fA-F]{4,16})(?=\s|$)/;

/** Null: the text begins with none. */
export function leadingPc(text: string): bigint | null {
  const digits = (WITH_PREFIX.exec(text) ?? BEFORE_COLON.exec(text) ?? BARE.exec(text))?.[1];
  return digits === undefined ? null : BigInt(`0x${digits}`);
}
