import { type GraphQLNamedType, isIntrospectionType } from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import { renderDiagram } from './diagram.ts';
import { domainTypesOf, groupMutations } from './domain.ts';
import { type Field, fieldsOf } from './fields.ts';
import type { Documentation } from './frame.ts';
import { kindOf, renderFieldLink, renderReference } from './references.ts';
import { firstSentence, renderInline } from './text.ts';

/** The first page: how the domain types hang together, then where reading begins, what changes them, and all types. */
export function renderStartPage(documentation: Documentation): Html {
  const { url, path, schemaPath, schema } = documentation;
  const list = (type: string, fields: readonly Field[]) =>
    html`<dl class="list">${fields.map(
      ({
        name,
        description,
      }) => html`<dt>${renderFieldLink(documentation, type, name, name)}</dt><dd>${renderInline(firstSentence(description))}</dd>
`,
    )}</dl>`;
  const [query, subscription] = [schema.getQueryType(), schema.getSubscriptionType()];
  // Those that need nothing but a token come first.
  const roots = query ? fieldsOf(query).toSorted((one, other) => one.args.length - other.args.length) : [];
  return html`<h1>The graph and its API</h1>
<p class="lead">One endpoint, <code>${url}/graphql</code>. Begin with an <a id="token" href="${path}/tokens">access token</a>, and with a field
of <a href="${path}/Query"><code>Query</code></a>.</p>
<figure class="diagram">
<div class="sheet" role="region" aria-label="Diagram of the types" tabindex="0">
${renderDiagram(schema, (type) => `${path}/${type}`)}
</div>
<figcaption>Each box leads to its type. A line is named after the fields that follow it; a crow’s foot stands for many, and ↻ for a field that leads to the same type.</figcaption>
</figure>
<h2 id="reading">Reading</h2>
${query && list(query.name, roots)}
<h2 id="types">Types</h2>
<dl class="list">${domainTypesOf(schema).map(
    (
      type,
    ) => html`<dt>${renderReference(documentation, type)}</dt><dd>${renderInline(firstSentence(type.description))}</dd>
`,
  )}</dl>
<h2 id="mutations">Mutations, by subject</h2>
${groupMutations(schema).map(
  ({ subject, mutations }) => html`<h3>${subject?.name ?? 'Others'}</h3>
${list('Mutation', mutations)}
`,
)}
${
  subscription &&
  html`<h2 id="following">Following</h2>
${list(subscription.name, fieldsOf(subscription))}`
}
<h2 id="guides">Guides</h2>
<ul>
<li><a href="${path}/tokens">Access tokens and requests</a>: each grant as a command, inspecting, revoking</li>
<li><a href="${path}/errors">Errors and limits</a>: what each code means, and what to do</li>
<li><a href="${schemaPath}">schema.graphql</a>: the schema as a file, for your tools</li>
</ul>
<h2 id="all-types">All types</h2>
${renderIndex(documentation)}`;
}

/** Every type of the schema, by kind. */
function renderIndex(documentation: Documentation): Html {
  const types = Object.values(documentation.schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const groups = Map.groupBy(types, titleOf);
  return html`${titles.map((title) => {
    const group = groups.get(title)?.toSorted((one, other) => one.name.localeCompare(other.name));
    return html`${
      group &&
      html`<h3>${title}</h3>
<p class="index">${group.map((type) => html`${renderReference(documentation, type)} `)}</p>`
    }`;
  })}
<p><a href="${documentation.path}/directives">Directives</a></p>`;
}

const titles = ['Objects', 'Inputs', 'Enums and scalars', 'Connections and payloads'] as const;

function titleOf(type: GraphQLNamedType): (typeof titles)[number] {
  if (/(Connection|Edge|PageInfo|Payload)$/.test(type.name)) return 'Connections and payloads';
  const kind = kindOf(type);
  if (kind === 'input') return 'Inputs';
  return kind === 'enum' || kind === 'scalar' ? 'Enums and scalars' : 'Objects';
}
