import type { GraphQLArgument, GraphQLType } from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import { renderCode, renderRequest } from './code.ts';
import type { Documentation } from './frame.ts';
import { renderReference } from './references.ts';
import { renderText } from './text.ts';

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
