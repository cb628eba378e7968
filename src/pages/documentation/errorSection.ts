import { type Config, limitMeaning } from '../../config.ts';
import { errorCodes } from '../../graphql/errors.ts';
import { type Html, html } from '../../html/html.ts';

/** The error codes and the limits, as this service is configured. */
export function renderErrors({ limits, throttle }: Config): Html {
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
<h3 id="too-many-requests">Too many requests: 429 and <code>Retry-After</code></h3>
<p>The OAuth endpoints answer <code>429</code> with <code>{"error":"too_many_requests"}</code> when one of these is exceeded.
<code>Retry-After</code> has the seconds after which the same request can succeed; a client waits as long, and longer each further time.
<code>503</code> has <code>Retry-After</code>, too: the service is overloaded, or its database is away.</p>
<table>
<thead><tr><th>At most</th><th>In</th><th>Of what</th></tr></thead>
<tbody>
${rates(throttle).map(
  ([limit, time, counted]) => html`<tr><td>${limit.toLocaleString('en')}</td><td>${time}</td><td>${counted}</td></tr>
`,
)}</tbody>
</table>
<h2 id="limits">Limits</h2>
<p>An operation beyond one of these is refused with <code>LIMIT_EXCEEDED</code>; <code>extensions.limit</code> names it.</p>
<table>
<thead><tr><th>Limit</th><th>At most</th><th>Meaning</th></tr></thead>
<tbody>
${Object.entries(limits).map(
  ([name, max]) =>
    html`<tr><td><code>${name}</code></td><td>${max.toLocaleString('en')}</td><td>${limitMeaning(name)}</td></tr>
`,
)}</tbody>
</table>
<p>A connection returns 100 objects unless <code>first</code> or <code>last</code> asks for another number, at most 1,000. A
page beyond that, a negative one, or both at once is <code>BAD_USER_INPUT</code>.</p>
</section>`;
}

const rates = ({ requestsPerMinute, failuresPerMinute, failuresPerAccount }: Config['throttle']) =>
  [
    [requestsPerMinute, 'a minute', 'Requests of an address.'],
    [5 * requestsPerMinute, 'a minute', 'Requests of an application, once it is authenticated.'],
    [failuresPerMinute, 'a minute', 'Failed authentications of an address.'],
    [failuresPerAccount, '15 minutes', 'Failed sign-ins to an account from one address.'],
  ] as const;
