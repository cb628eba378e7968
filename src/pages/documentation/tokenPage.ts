import { type Html, html } from '../../html/html.ts';
import { grants } from '../../oauth/grants/grants.ts';
import { type Holder, scopes, scopesByRank } from '../../token/scopes.ts';
import { renderCode, renderInline, renderRequest, renderTable } from './render.ts';

/** How to get an access token, what each scope allows, and how to send a request with one. */
export function renderTokenPage(url: string): Html {
  const token = `${url}/oauth/token`;
  return html`<h1>Access tokens and requests</h1>
<p>Every request carries an access token that this service issues by OAuth 2.0. It belongs to an application of one
organization, or to a user who signed in through one, and nothing of another organization can be reached with it.</p>
${renderTable(
  ['Scope', 'Whose token', 'What it allows'],
  scopesByRank.map((name) => [
    html`<code>${name}</code>`,
    whose[scopes[name].holder],
    renderInline(scopes[name].allows),
  ]),
)}
${grants.map(
  ({
    type,
    guide: { title, text, example },
  }) => html`${title && html`<h2 id="${type.replaceAll('_', '-')}">${title}</h2>`}
<p>${renderInline(text)}</p>
${renderCommand([`curl -s ${token}`, ...example].join(' \\\n  '))}
`,
)}<h2 id="lifetime">What comes back</h2>
<p>JSON with <code>access_token</code>, <code>token_type</code>, <code>expires_in</code> (seconds), <code>refresh_token</code>, <code>scope</code>
and <code>created_at</code>. What this server offers is at
<a href="${url}/.well-known/oauth-authorization-server">/.well-known/oauth-authorization-server</a>.</p>
<h2 id="inspecting">Inspecting and revoking tokens</h2>
<h3 id="token-info">Your own token: <code>GET /oauth/token/info</code></h3>
<p>What the token in the header is good for: <code>resource_owner_id</code> (the user’s id, <code>null</code> for an application’s token),
<code>scope</code> (a list), <code>expires_in</code>, <code>application.uid</code> and <code>created_at</code>.</p>
${renderCommand(`curl -s ${url}/oauth/token/info -H 'Authorization: Bearer ACCESS_TOKEN'`)}
<h3 id="introspect">Another client’s token: <code>POST /oauth/introspect</code></h3>
<p>For a resource server (RFC 7662): a confidential application, or the bearer of an application’s token, asks
about tokens of its organization. A valid one has <code>active</code>, <code>scope</code>, <code>client_id</code>, <code>token_type</code>,
<code>exp</code>, <code>iat</code> and <code>sub</code> (the user’s id, else the client’s). Any other is <code>{"active":false}</code>, whatever
the reason.</p>
${renderCommand(`curl -s ${url}/oauth/introspect -d token=ACCESS_TOKEN \\
  -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`)}
<h3 id="revoke">Revoking: <code>POST /oauth/revoke</code>, <code>DELETE /oauth/token</code></h3>
<p>An application revokes an access or refresh token of its own (RFC 7009); the answer is <code>{}</code> also when the token is unknown.
Either way the whole grant ends at once: the access token and its refresh token.</p>
${renderCommand(`curl -s ${url}/oauth/revoke -d token=REFRESH_TOKEN \\
  -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`)}
<p>The bearer of a token ends its grant without further credentials; the second time the answer is 401.</p>
${renderCommand(`curl -s -X DELETE ${token} -H 'Authorization: Bearer ACCESS_TOKEN'`)}
<h3 id="deny">Refusing: <code>DELETE /oauth/authorize</code></h3>
<p>What the consent page sends when the user refuses, with the parameters of the authorization request and the page’s
<code>csrf_token</code>; <code>POST</code> allows it. The browser returns to the application with <code>error=access_denied</code>; a client that
accepts JSON instead gets <code>{"status":"redirect","redirect_uri":…}</code>.</p>
<h2 id="requests">Requests</h2>
<p>One endpoint takes every operation: by POST, or a query by GET. It follows the GraphQL-over-HTTP specification. Words in
capitals stand for your own values. Each operation has its example on the page of its type.</p>
${renderRequest(url, '{ viewer { fullName } }', {})}
<p>A document may be named by its SHA-256 in <code>documentId</code> instead of being sent; where that is unknown
(<code>PERSISTED_QUERY_NOT_FOUND</code>), send both once. Apollo’s and Relay’s spellings are understood, too.</p>
<p>A mutation with the header <code>Idempotency-Key</code>, such as a new UUID, may be sent again for 24 hours: it gets the first
answer with <code>Idempotency-Replayed: true</code>, and changes nothing twice. While the first is under way, repeat it after <code>Retry-After</code>.</p>
`;
}

const renderCommand = (command: string) => renderCode('curl', command);

const whose: Record<Holder, string> = { user: 'a user’s', application: 'an application’s' };
