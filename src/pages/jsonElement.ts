import { Html, html } from '../html/html.ts';

/** Data for a page's scripts. It is never executed, so that no policy has to allow inline scripts. */
export function jsonElement(id: string, data: unknown): Html {
  // Nothing in the data may end the element.
  const text = JSON.stringify(data).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="${id}">${new Html(text)}</script>`;
}
