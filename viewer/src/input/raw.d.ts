/** Files as text, in tests. */
declare module '*?raw' {
  const text: string;
  export default text;
}
