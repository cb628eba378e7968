import { type Html, html } from '../../html/html.ts';
import { grants } from '../../oauth/grants/grants.ts';
import { type Holder, scopes, scopesByRank } from '../../token/scopes.ts';
import { renderInline } from './schemaSection.ts';

/** How to get an access token, what each scope allows, and how to send a request with one. */
export function renderTokens(url: string): Html {
  const token = `${url}/oauth/token`;
  return html`<section>
<h2 id="token">Access tokens</h2>
<p>Every request carries an access token that this service issues by OAuth 2.0. It belongs to an application of one
organization, or to a user who signed in through one, and nothing of another organization can be reached with it.</p>
<table>
<thead><tr><th>Scope</th><th>Whose token</th><th>What it allows</th></tr></thead>
<tbody>
${scopesByRank.map((name) => {
  const { holder, allows } = scopes[name];
  return html`<tr><td><code>${name}</code></td><td>${whose[holder]}</td><td>${renderInline(allows)}</td></tr>
`;
})}</tbody>
</table>
${grants.map(
  ({
    type,
    guide: { title, text, example },
  }) => html`${title && html`<h3 id="${type.replaceAll('_', '-')}">${title}</h3>`}
<p>${renderInline(text)}</p>
${renderCommand([`curl -s ${token}`, ...example].join(' \\\n  '))}
`,
)}<h3 id="lifetime">What comes back</h3>
<p>JSON with <code>access_token</code>, <code>token_type</code>, <code>expires_in</code> (seconds), <code>refresh_token</code>, <code>scope</code>
and <code>created_at</code>. <code>/oauth/revoke</code> ends both tokens. What this server offers is at
<a href="${url}/.well-known/oauth-authorization-server">/.well-known/oauth-authorization-server</a>.</p>
<h2 id="requests">Requests</h2>
<p>One endpoint takes every operation: by POST, or a query by GET. It follows the GraphQL-over-HTTP specification.</p>
${renderCommand(`curl -s ${url}/graphql \\
  -H 'Authorization: Bearer ACCESS_TOKEN' \\
  -H 'Content-Type: application/json' \\
  -d '{"query":"{ viewer { fullName } }","variables":{}}'`)}
<p>A document may be named by its SHA-256 in <code>documentId</code> instead of being sent; where that is unknown
(<code>PERSISTED_QUERY_NOT_FOUND</code>), send both once. Apollo’s and Relay’s spellings are understood, too.</p>
</section>`;
}

const renderCommand = (command: string) => html`<pre tabindex="0"><code>${command}</code></pre>`;

const whose: Record<Holder, string> = { user: 'a user’s', application: 'an application’s' };
