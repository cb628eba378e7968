import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
} from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import { fieldsOf, groupMutations, nodesOf } from './domain.ts';
import type { Documentation } from './frame.ts';
import {
  kindOf,
  type Part,
  renderArguments,
  renderExample,
  renderField,
  renderFieldLink,
  renderReference,
  renderText,
} from './render.ts';

/** The page of a type: what it is, where it is found, its fields with arguments and examples, and what changes it. */
export function renderTypePage(documentation: Documentation, type: GraphQLNamedType): Html {
  const { schema } = documentation;
  const parts: readonly Part[] = isEnumType(type) ? type.getValues() : fieldsOf(type);
  const refer = (types: readonly GraphQLNamedType[]) => types.map((it) => html`${renderReference(documentation, it)} `);
  const interfaces = isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : [];
  return html`<h1><code>${type.name}</code> <span class="kind">${kindOf(type)}</span></h1>
${renderText(type.description)}
<dl class="facts">${fact('Implements', refer(interfaces))}${fact(
    'Is one of',
    isAbstractType(type) && type.name !== 'Node' ? refer(schema.getPossibleTypes(type)) : [],
  )}${fact(
    isInputObjectType(type) ? 'Given to' : 'Found at',
    usesOf(schema, type).map(([of, field]) => html`${renderFieldLink(documentation, of, field)} `),
  )}${fact('Changed by', renderChanges(documentation, type))}</dl>
${
  parts.length > 0 &&
  html`<h2>${isEnumType(type) ? 'Values' : 'Fields'}</h2>
<dl class="fields">
${parts.map((part) => renderField(documentation, part, renderExample(documentation, `${type.name}.${part.name}`)))}</dl>`
}`;
}

const fact = (title: string, values: readonly Html[]) =>
  values.length > 0 ? html`<dt>${title}</dt><dd>${values}</dd>` : html``;

function renderChanges(documentation: Documentation, type: GraphQLNamedType): Html[] {
  const group = groupMutations(documentation.schema).find(({ subject }) => subject === type);
  return (group?.mutations ?? []).map(({ name }) => html`${renderFieldLink(documentation, 'Mutation', name, name)} `);
}

/**
 * The fields that lead to a type, also through a connection, or whose arguments take it. Payloads are with the mutations that change it.
 *
 * @returns coordinates
 */
function usesOf(schema: GraphQLSchema, type: GraphQLNamedType): [type: string, field: string][] {
  const isInput = isInputObjectType(type);
  return Object.values(schema.getTypeMap()).flatMap((of) => {
    if (isIntrospectionType(of) || /(Connection|Edge|Payload)$/.test(of.name)) return [];
    return fieldsOf(of)
      .filter((field) => {
        const target = getNamedType(field.type) as GraphQLNamedType;
        const isReturned = target === type || getNamedType(nodesOf(target)?.type) === type;
        return isInput ? target === type || field.args?.some((arg) => getNamedType(arg.type) === type) : isReturned;
      })
      .map(({ name }): [string, string] => [of.name, name]);
  });
}

/** What a document may say besides fields. */
export const renderDirectivePage = (documentation: Documentation): Html => html`<h1>Directives</h1>
${documentation.schema.getDirectives().map(
  ({ name, description, args }) => html`<article id="${name}">
<h2><a href="#${name}"><code>@${name}</code></a></h2>
${renderText(description)}
${renderArguments(documentation, args)}
</article>
`,
)}`;
