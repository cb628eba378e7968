import {
  type GraphQLArgument,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
} from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import { renderCode, renderRequest } from './code.ts';
import { createExamples, type Example } from './createExamples.ts';
import { fieldsOf } from './fields.ts';

/**
 * The schema in writing: each type with its fields, arguments, values and examples.
 * The order is one for readers, and all names are links.
 */
export function renderSchema(url: string, schema: GraphQLSchema): Html {
  const examples = new Map(Array.from(createExamples(schema), ([of, example]) => [of, renderExample(url, example)]));
  return html`${groupTypes(schema).map(
    ({ title, id, types }) => html`<section class="types">
<h2 id="${id}">${title}</h2>
${types.map((type) => renderType(type, examples))}
</section>
`,
  )}
<section class="types">
<h2 id="directives">Directives</h2>
${schema
  .getDirectives()
  .map(({ name, description, args }) => renderArticle(`@${name}`, 'directive', description, renderArguments(args)))}
</section>`;
}

/** By the coordinates of fields. */
type Examples = ReadonlyMap<string, Html>;

const renderExample = (url: string, { document, variables }: Example) =>
  html`<details class="example"><summary>Example</summary>
${renderCode('GraphQL', document)}${renderRequest(url, document, variables)}</details>`;

/** Links to its parts. */
export function renderContents(schema: GraphQLSchema): Html {
  return html`${groupTypes(schema).map(
    ({ title, id, types }) => html`<a href="#${id}">${title}</a>
${title === 'Objects' ? types.map(({ name }) => html`<a class="of-type" href="#${name}">${name}</a>`) : ''}
`,
  )}<a href="#directives">Directives</a>`;
}

function groupTypes(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  return groupTitles.map((title) => ({
    title,
    id: title.toLowerCase().replaceAll(' ', '-'),
    types: types.filter((type) => groupOf(type) === title).sort(byImportance),
  }));
}

const groupTitles = ['Operations', 'Objects', 'Pages and orders', 'Scalars'] as const;

function groupOf(type: GraphQLNamedType): (typeof groupTitles)[number] {
  if (/^(Query|Mutation|Subscription)$|Payload$/.test(type.name)) return 'Operations';
  if (isScalarType(type)) return 'Scalars';
  if (isEnumType(type) || isInputObjectType(type) || /(Connection|Edge|PageInfo)$/.test(type.name))
    return 'Pages and orders';
  return 'Objects';
}

/** The order of explanation; other types follow, by name. */
const order = [
  'Query',
  'Mutation',
  'Subscription',
  'App',
  'User',
  'Unit',
  'AccessGrant',
  'CardAssignment',
  'Card',
  'BeaconCard',
  'NfcCard',
];

function byImportance(a: GraphQLNamedType, b: GraphQLNamedType): number {
  const rank = ({ name }: GraphQLNamedType) => (order.includes(name) ? order.indexOf(name) : order.length);
  return rank(a) - rank(b) || a.name.localeCompare(b.name);
}

function renderType(type: GraphQLNamedType, examples: Examples): Html {
  const parents = 'getInterfaces' in type ? type.getInterfaces() : [];
  const parts: readonly Part[] = isEnumType(type) ? type.getValues() : fieldsOf(type);
  const entries = parts.map((part) => {
    const coordinates = `${type.name}.${part.name}`;
    return renderPart(part, coordinates, html`${renderArguments(part.args ?? [])}${examples.get(coordinates)}`);
  });
  const list = isInputObjectType(type) ? renderArguments(parts) : html`<dl>${entries}</dl>`;
  const content = html`${
    parents.length > 0 &&
    html`<p class="implements">Implements ${parents.map((parent) => html`${renderReference(parent)} `)}</p>`
  }${parts.length > 0 && list}`;
  return renderArticle(type.name, kindOf(type), type.description, content);
}

const renderArticle = (name: string, kind: string, description: Part['description'], content: Html) =>
  html`<article class="type" id="${name}">
<h3><code>${name}</code> <span class="kind">${kind}</span></h3>
${renderDescription(description)}
${content}
</article>
`;

function kindOf(type: GraphQLNamedType): string {
  if (isObjectType(type)) return 'type';
  if (isInterfaceType(type)) return 'interface';
  if (isEnumType(type)) return 'enum';
  return isInputObjectType(type) ? 'input' : 'scalar';
}

/** A field, an argument or a value. */
type Part = Pick<GraphQLArgument, 'name' | 'description' | 'deprecationReason'> & {
  readonly type?: GraphQLType;
  readonly args?: readonly GraphQLArgument[];
};

const renderPart = ({ name, type, description, deprecationReason }: Part, id: string | null = null, more = html``) =>
  html`<dt${id && html` id="${id}"`}><code>${name}</code>${type && html`: ${renderReference(type)}`}${
    deprecationReason && html` <span class="deprecated" title="${deprecationReason}">deprecated</span>`
  }</dt>
<dd>${renderDescription(description)}${more}</dd>`;

const renderArguments = (inputs: readonly Part[]) =>
  inputs.length > 0 ? html`<dl class="arguments">${inputs.map((input) => renderPart(input))}</dl>` : html``;

/** `[Unit!]!` with the name as a link. */
function renderReference(type: GraphQLType): Html {
  const { name } = getNamedType(type);
  const [before = '', after = ''] = String(type).split(name);
  return html`<code class="reference">${before}<a href="#${name}">${name}</a>${after}</code>`;
}

/** A description: paragraphs of text, with `code` in back quotes. */
function renderDescription(description: string | null | undefined): Html {
  const paragraphs = (description ?? '').split(/\n\s*\n/).filter(Boolean);
  return html`${paragraphs.map((paragraph) => html`<p>${renderInline(paragraph)}</p>`)}`;
}

/** Text with `code` in back quotes. */
export const renderInline = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
