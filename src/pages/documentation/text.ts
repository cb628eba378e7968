import { type Html, html } from '../../html/html.ts';

/** A description: paragraphs of text. */
export const renderText = (text: string | null | undefined): Html =>
  html`${(text ?? '')
    .split(/\n\s*\n/)
    .filter(Boolean)
    .map((paragraph) => html`<p>${renderInline(paragraph)}</p>`)}`;

/** The first sentence of a description, for lists. */
export const firstSentence = (text: string | null | undefined): string =>
  /^.*?[.;:](?=\s|$)/s.exec(text ?? '')?.[0].replace(/[;:]$/, '.') ?? text ?? '';

/** Text with `code` in back quotes, **bold**, [links](https://…) and addresses as links. */
export const renderInline = (text: string): Html[] =>
  text
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\(https?:\/\/[^\s()]+\)|https?:\/\/[^\s<>()]+[^\s<>().,;])/)
    .map((part, index) => (index % 2 === 0 ? html`${part}` : renderMarked(part)));

function renderMarked(part: string): Html {
  if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
  const [, name, address] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
  if (name && address) return html`<a href="${address}">${name}</a>`;
  return part.startsWith('**') ? html`<b>${part.slice(2, -2)}</b>` : html`<a href="${part}">${part}</a>`;
}
