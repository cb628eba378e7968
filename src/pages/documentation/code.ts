import { type Html, type HtmlValue, html } from '../../html/html.ts';

/** Code below its title; the page's script adds a button that copies it. */
export const renderCode = (title: string, code: string): Html =>
  html`<figure class="code"><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>
`;

/** A table with a row for each thing. */
export const renderTable = (titles: readonly string[], rows: readonly (readonly HtmlValue[])[]) =>
  html`<table>
<thead><tr>${titles.map((title) => html`<th>${title}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
)}</tbody>
</table>`;

/** A command that sends an operation. */
export function renderRequest(url: string, document: string, variables: Readonly<Record<string, unknown>>): Html {
  const body = JSON.stringify({ query: document.replace(/\s+/g, ' '), variables });
  const [options, accept] = document.startsWith('subscription')
    ? ['-sN', "\n  -H 'Accept: text/event-stream' \\"]
    : ['-s', ''];
  return renderCode(
    'curl',
    `curl ${options} ${url}/graphql \\
  -H 'Authorization: Bearer ACCESS_TOKEN' \\
  -H 'Content-Type: application/json' \\${accept}
  -d '${body.replaceAll("'", "'\\''")}'`,
  );
}
