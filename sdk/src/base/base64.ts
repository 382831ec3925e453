/** Bytes as base64 text, as programs in WebAssembly are checked in. */

/** White space in the text is passed over. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
