import {
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import type { Documentation } from './frame.ts';

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
