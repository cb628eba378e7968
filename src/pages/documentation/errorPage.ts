import { readFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { type Html, html } from '../../html/html.ts';
import { limitMeaning } from '../../variables.ts';
import { renderTable, renderText } from './render.ts';

/** The error codes, with what to do about each, and the limits, as this service is configured. */
export function renderErrorPage({ limits, throttle }: Config, guide: ErrorGuide): Html {
  const { requestsPerMinute, failuresPerMinute, failuresPerAccount } = throttle;
  return html`<h1>Errors and limits</h1>
<p>An error of GraphQL has a stable <code>extensions.code</code>. The status below is that of a request that is refused as a whole. If one
field fails, the status is 200, the field is null, and the other fields have their values. A program decides by the code, since a message may change.</p>
${guide.map(
  ({ title, paragraphs }) => html`<h2 id="${title.toLowerCase()}">${title}</h2>
${paragraphs.map(
  ({ code, text }) => html`<section class="code-of-error">
<h3 id="${code}"><a href="#${code}"><code>${code}</code></a></h3>
${renderText(text)}
</section>
`,
)}`,
)}
<h2 id="too-many-requests">Too many requests: 429 and <code>Retry-After</code></h2>
<p>The OAuth endpoints answer <code>429</code> with <code>{"error":"too_many_requests"}</code> when a client exceeds one of these.
<code>Retry-After</code> has the seconds after which the same request can succeed. The client waits as long, and longer each further time.
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
<p>The service refuses an operation beyond one of these with <code>LIMIT_EXCEEDED</code>; <code>extensions.limit</code> names the limit.</p>
${renderTable(
  ['Limit', 'At most', 'Meaning'],
  Object.entries(limits).map(([name, limit]) => [html`<code>${name}</code>`, inDigits(limit), limitMeaning(name)]),
)}
<p>A connection returns 100 objects unless <code>first</code> or <code>last</code> asks for another number, at most 1,000. A
page beyond that, a negative one, or both at once is <code>BAD_USER_INPUT</code>.</p>`;
}

const inDigits = (limit: number) => limit.toLocaleString('en');

/** The sections of the guide to errors, each with a paragraph for each code. */
type ErrorGuide = readonly {
  readonly title: string;
  readonly paragraphs: readonly { readonly code: string; readonly text: string }[];
}[];

/**
 * The paragraphs of `docs/errors.md`, so that the page and the document say the same.
 * Links to other documents become plain text, since the service does not serve these.
 */
export async function readErrorGuide(): Promise<ErrorGuide> {
  const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  return page
    .split(/^## /m)
    .map((section) => {
      const [title = '', ...parts] = section.split(/^### /m);
      const paragraphs = parts.map((part) => {
        const [code = '', ...text] = part.split('\n');
        return { code, text: toText(text.join('\n').trim()) };
      });
      return { title: title.split('\n', 1)[0] ?? '', paragraphs };
    })
    .filter(({ paragraphs }) => paragraphs.length > 0);
}

const toText = (markdown: string) =>
  markdown.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1').replaceAll('\n**Do**', '\n\n**Do**');
