import type { Config } from '../../config.ts';
import { errorCodes } from '../../graphql/errors.ts';
import { type Html, html } from '../../html/html.ts';
import { limitMeaning } from '../../variables.ts';
import { renderTable } from './code.ts';

/** The error codes and the limits, as this service is configured. */
export function renderErrors({ limits, throttle }: Config): Html {
  const { requestsPerMinute, failuresPerMinute, failuresPerAccount } = throttle;
  return html`<section>
<h2 id="errors">Errors</h2>
<p>An error is a GraphQL error with a stable <code>extensions.code</code>. The HTTP status is that of a request that is refused as
a whole; an error of one field leaves it at 200.</p>
${renderTable(
  ['Code', 'Status', 'Meaning'],
  Object.entries(errorCodes).map(([code, { status, meaning }]) => [html`<code>${code}</code>`, status, meaning]),
)}
<h3 id="too-many-requests">Too many requests: 429 and <code>Retry-After</code></h3>
<p>The OAuth endpoints answer <code>429</code> with <code>{"error":"too_many_requests"}</code> when one of these is exceeded.
<code>Retry-After</code> has the seconds after which the same request can succeed; a client waits as long, and longer each further time.
<code>503</code> has <code>Retry-After</code>, too: the service is overloaded, or its database is away.</p>
${renderTable(
  ['At most', 'In', 'Of what'],
  [
    [inDigits(requestsPerMinute), 'a minute', 'Requests of an address.'],
    [inDigits(5 * requestsPerMinute), 'a minute', 'Requests of an application, once it is authenticated.'],
    [inDigits(failuresPerMinute), 'a minute', 'Failed authentications of an address.'],
    [inDigits(failuresPerAccount), '15 minutes', 'Failed sign-ins to an account from one address.'],
  ],
)}
<h2 id="limits">Limits</h2>
<p>An operation beyond one of these is refused with <code>LIMIT_EXCEEDED</code>; <code>extensions.limit</code> names it.</p>
${renderTable(
  ['Limit', 'At most', 'Meaning'],
  Object.entries(limits).map(([name, limit]) => [html`<code>${name}</code>`, inDigits(limit), limitMeaning(name)]),
)}
<p>A connection returns 100 objects unless <code>first</code> or <code>last</code> asks for another number, at most 1,000. A
page beyond that, a negative one, or both at once is <code>BAD_USER_INPUT</code>.</p>
</section>`;
}

const inDigits = (limit: number) => limit.toLocaleString('en');
