import type { Config } from '../../config.ts';
import { errorCodes } from '../../graphql/errors.ts';
import { type Html, html } from '../../html/html.ts';

/** The error codes and the limits, as this service is configured. */
export function renderErrors({ limits }: Config): Html {
  return html`<section>
<h2 id="errors">Errors</h2>
<p>An error is a GraphQL error with a stable <code>extensions.code</code>. The HTTP status is that of a request that is refused as
a whole; an error of one field leaves it at 200.</p>
<table>
<thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead>
<tbody>
${Object.entries(errorCodes).map(
  ([code, { status, meaning }]) =>
    html`<tr><td><code>${code}</code></td><td>${status}</td><td>${meaning}</td></tr>
`,
)}</tbody>
</table>
<h2 id="limits">Limits</h2>
<p>An operation beyond one of these is refused with <code>LIMIT_EXCEEDED</code>; <code>extensions.limit</code> names it.</p>
<table>
<thead><tr><th>Limit</th><th>At most</th><th>Of what</th></tr></thead>
<tbody>
${Object.entries(limitMeanings).map(
  ([name, meaning]) =>
    html`<tr><td><code>${name}</code></td><td>${limits[name as keyof Config['limits']].toLocaleString('en')}</td><td>${meaning}</td></tr>
`,
)}</tbody>
</table>
<p>A connection returns 100 objects unless <code>first</code> or <code>last</code> asks for another number, at most 1,000. A
page beyond that, a negative one, or both at once is <code>BAD_USER_INPUT</code>.</p>
</section>`;
}

/** What each limit counts, by the values of `extensions.limit` (contract section 6). */
const limitMeanings: Record<keyof Config['limits'], string> = {
  body: 'Bytes of the request’s body.',
  tokens: 'Tokens of the document: its names, values and punctuation.',
  depth: 'Levels of fields.',
  aliases: 'Aliases.',
  rootFields: 'Fields on the top level.',
  directives: 'Directives.',
  fields: 'Fields.',
  connections: 'Connections, such as users or children.',
  rows: 'Rows of the answer, counted as they come.',
  bytes: 'Bytes of the answer, counted while it is written.',
};
