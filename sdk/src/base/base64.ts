/** Bytes as base64 text, as programs in WebAssembly are checked in. */

/** White space in the text is passed over. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  // It runs once, before anything is compiled: a callback for each byte would be called by the interpreter.
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
