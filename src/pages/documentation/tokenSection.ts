import { type Html, html } from '../../html/html.ts';

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
<tr><td><code>me</code></td><td>a user’s</td><td><code>viewer</code>: the user’s own data, cards and accessible units.</td></tr>
<tr><td><code>app</code></td><td>an application’s</td><td><code>app</code> and the mutations: all users of the organization, to read and change; all of its units and cards, to read.</td></tr>
<tr><td><code>basic</code></td><td>an application’s</td><td>No data. A resource server introspects other tokens with it.</td></tr>
</tbody>
</table>
<h3 id="client-credentials">As an application</h3>
<p>With the client id and the secret of an application that holds the scope.</p>
${renderCommand(`curl -s ${token} \\
  -d grant_type=client_credentials -d scope=app \\
  -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`)}
<h3 id="password">As a user, in a trusted application</h3>
<p>The user name is the e-mail address. An application with a mobile app sends its <code>client_id</code> alone.</p>
${renderCommand(`curl -s ${token} \\
  -d grant_type=password -d scope=me -d client_id=CLIENT_ID \\
  --data-urlencode username=EMAIL --data-urlencode password=PASSWORD`)}
<p>Where the application’s mobile app uses external authentication, the user’s <code>externalAuthenticationToken</code>
takes the place of both.</p>
${renderCommand(`curl -s ${token} \\
  -d grant_type=password -d scope=me -d client_id=CLIENT_ID \\
  --data-urlencode external_authentication_token=TOKEN`)}
<h3 id="authorization-code">As a user, in any other application</h3>
<p>The authorization code flow with PKCE (<code>S256</code>): send the browser to <code>${url}/oauth/authorize</code> with
<code>response_type=code</code>, <code>client_id</code>, <code>redirect_uri</code>, <code>state</code>, <code>code_challenge</code> and
<code>code_challenge_method</code>, then exchange the code.</p>
${renderCommand(`curl -s ${token} \\
  -d grant_type=authorization_code -d client_id=CLIENT_ID -d code=CODE \\
  --data-urlencode redirect_uri=REDIRECT_URI -d code_verifier=VERIFIER`)}
<h3 id="lifetime">What comes back</h3>
<p>JSON with <code>access_token</code>, <code>token_type</code>, <code>expires_in</code> (seconds), <code>refresh_token</code>, <code>scope</code>
and <code>created_at</code>. The refresh token gets the next pair, once; <code>/oauth/revoke</code> ends both. What this
server offers is at <a href="${url}/.well-known/oauth-authorization-server">/.well-known/oauth-authorization-server</a>.</p>
${renderCommand(`curl -s ${token} \\
  -d grant_type=refresh_token -d refresh_token=REFRESH_TOKEN \\
  -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`)}
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
