/** HTML as text: everything that comes from a trace is escaped. */
import { onOneLine } from '../../base/printable.js';

/** Markup, as opposed to text that has yet to be escaped. */
export class Markup {
  constructor(readonly html: string) {}
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escaped(text: string): string {
  return onOneLine(text).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

type Part = string | number | Markup | readonly Markup[];

/** Text is escaped, markup and lists of it are not. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.reduce((all, text, index) => all + toHtml(parts[index - 1]) + text));
}

function toHtml(part: Part): string {
  if (part instanceof Markup) return part.html;
  if (typeof part === 'object') return part.map(({ html: inner }) => inner).join('');
  return escaped(String(part));
}

/** A value that a script reads: JSON in which no tag and no comment can begin. */
export function scriptData(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

export interface Column {
  readonly name: string;
  /** Names and sentences; numbers otherwise. */
  readonly isText?: boolean;
}

export const EMPTY = new Markup('');

/** A bar for a share of the greatest value of a column. */
export function barCell(share: number, kind: string): Markup {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  return html`<span class="bar ${kind}"><i style="width:${width}%"></i></span>`;
}

/** Nothing for a table without rows. */
export function tableOf(columns: readonly Column[], rows: readonly (readonly (string | Markup)[])[]): Markup {
  if (rows.length === 0) return EMPTY;
  const kind = (index: number): string => (columns[index]?.isText ? 'text' : 'number');
  const head = columns.map(({ name }, index) => html`<th class="${kind(index)}" scope="col">${name}</th>`);
  const body = rows.map((row) => {
    const cells = row.map((cell, index) =>
      index === 0
        ? html`<th class="${kind(index)}" scope="row">${cell}</th>`
        : html`<td class="${kind(index)}">${cell}</td>`,
    );
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<div class="scroll"><table><thead><tr>${head}</tr></thead>\n<tbody>\n${body}</tbody></table></div>`;
}

/** A panel with a title; nothing around nothing. */
export function panel(title: string, remark: string, content: Markup, kind = ''): Markup {
  if (content.html === '') return EMPTY;
  const note = remark === '' ? EMPTY : html`<p class="remark">${remark}</p>`;
  return html`<section class="panel ${kind}"><h3>${title}</h3>${note}${content}</section>\n`;
}
