import {
  type GraphQLArgument,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'postgraphile/graphql';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { Documentation } from './frame.ts';

/** A field, an argument or a value. */
export type Part = Pick<GraphQLArgument, 'name' | 'description' | 'deprecationReason'> & {
  readonly type?: GraphQLType;
  readonly args?: readonly GraphQLArgument[];
  readonly defaultValue?: unknown;
};

/** An entry of a list: name and type, description, arguments, then `more`, such as its example. */
export const renderField = (documentation: Documentation, part: Part, more: Html | null = null): Html =>
  html`<dt id="${part.name}">${renderHead(documentation, part)}</dt>
<dd>${renderText(part.description)}${renderArguments(documentation, part.args ?? [])}${more}</dd>
`;

/** Many arguments, which are those of every connection, are folded. */
export function renderArguments(
  documentation: Documentation,
  args: readonly Part[],
  isFolded = args.length > 3,
): Html | null {
  if (args.length === 0) return null;
  const list = html`<dl class="arguments">${args.map(
    (arg) => html`<dt>${renderHead(documentation, arg)}</dt>
<dd>${renderText(arg.description)}</dd>
`,
  )}</dl>`;
  return isFolded ? html`<details><summary>${args.length} arguments</summary>${list}</details>` : list;
}

const renderHead = (documentation: Documentation, { name, type, deprecationReason, defaultValue }: Part) =>
  html`<code>${name}</code>${type && html`: ${renderReference(documentation, type)}`}${
    defaultValue !== undefined && html` <code>= ${JSON.stringify(defaultValue)}</code>`
  }${deprecationReason && html` <span class="deprecated" title="${deprecationReason}">deprecated</span>`}`;

/** The example of a field: to run in GraphiQL, to read, and to paste; null if it has none. */
export function renderExample({ url, graphiqlPath, examples }: Documentation, coordinates: string): Html | null {
  const example = examples.get(coordinates);
  if (!example) return null;
  const { document, variables } = example;
  const hasVariables = Object.keys(variables).length > 0;
  // In the fragment, which no server and no log gets.
  const operation = new URLSearchParams({
    query: document,
    ...(hasVariables && { variables: JSON.stringify(variables, null, 2) }),
  });
  return html`<div class="example"><a class="run" href="${graphiqlPath}#${operation.toString()}">Open in GraphiQL<span class="for-ear"> the example of ${coordinates}</span></a>
<details><summary>Example</summary>
${renderCode('GraphQL', document)}${hasVariables && renderCode('Variables', JSON.stringify(variables, null, 2))}${renderRequest(url, document, variables)}</details></div>`;
}

/** `[Unit!]!` with the name as a link to the type's page. */
export function renderReference({ path }: Documentation, type: GraphQLType): Html {
  const { name } = getNamedType(type);
  const [before = '', after = ''] = String(type).split(name);
  return html`<code class="reference">${before}<a href="${path}/${name}">${name}</a>${after}</code>`;
}

/** A link to a field, by its coordinates. */
export const renderFieldLink = (
  { path }: Documentation,
  type: string,
  field: string,
  title = `${type}.${field}`,
): Html => html`<a href="${path}/${type}#${field}"><code>${title}</code></a>`;

export function kindOf(type: GraphQLNamedType): string {
  if (isObjectType(type)) return 'type';
  if (isInterfaceType(type)) return 'interface';
  if (isUnionType(type)) return 'union';
  if (isEnumType(type)) return 'enum';
  return isInputObjectType(type) ? 'input' : 'scalar';
}

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
