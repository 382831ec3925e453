/** What went wrong as text: commands in it are code. */
import type { Problem } from '../data/protocol.js';
import { adviceFor } from '../page/advice.js';

/** @param text with commands between backticks */
export function AdviceText({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>;
}

/** A problem in one line, of pages that show several traces. */
export function ProblemLine({ problem: { code, what, advice } }: { readonly problem: Problem }) {
  return (
    <p class="problem" role="alert">
      <b>{code}</b>: {/[.!?]$/.test(what) ? what : `${what}.`} <AdviceText text={advice || adviceFor(code)} />
    </p>
  );
}
