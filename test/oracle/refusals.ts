import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { ConnectionArguments } from './connection.ts';
import type { Cursors } from './cursors.ts';
import { decodeId } from './ids.ts';
import { signatureOf } from './orders.ts';

const maxRows = 1000;

/**
 * The arguments of pages and filters for which a document is refused, wherever they stand in it: a field that is skipped is judged as one
 * that is not.
 */
export function refusedArguments(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
  cursors: readonly Cursors[],
): string[] {
  const refused: string[] = [];
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const field = types.getFieldDef();
        if (!field || !isConnection(field)) return;
        const page: ConnectionArguments = getArgumentValues(field, node, variables);
        refused.push(...refusedOf(page, listOf(field), cursors));
      },
    }),
  );
  return refused;
}

function refusedOf(page: ConnectionArguments, list: string, cursors: readonly Cursors[]): string[] {
  const { first, last, after, before, orderBy, ids, externalIdentifiers, emails, nfcIdentifiers, beacons } = page;
  const isSize = (size: number | null | undefined) => size == null || (size >= 0 && size <= maxRows);
  const isCursor = (cursor: string | null | undefined) =>
    cursor == null ||
    cursors.some((known) => {
      const place = known.placeOf(cursor);
      return place?.list === list && place.signature === signatureOf(orderBy ?? []);
    });
  const isList = (values: readonly string[] | null | undefined) =>
    values == null || (values.length <= maxRows && values.every(isText));
  return [
    ...(isSize(first) && (first == null || last == null) ? [] : ['first']),
    ...(isSize(last) ? [] : ['last']),
    ...(isCursor(after) ? [] : ['after']),
    ...(isCursor(before) ? [] : ['before']),
    ...(isList(ids) && (ids ?? []).every((id) => decodeId(id) !== null) ? [] : ['ids']),
    ...(isList(externalIdentifiers) ? [] : ['externalIdentifiers']),
    ...(isList(emails) ? [] : ['emails']),
    ...(isList(nfcIdentifiers) ? [] : ['nfcIdentifiers']),
    ...((beacons?.length ?? 0) <= maxRows ? [] : ['beacons']),
  ];
}

/** Text that a database can have: Unicode without U+0000. */
const isText = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

export const isConnection = ({ args }: GraphQLField<unknown, unknown>): boolean =>
  args.some(({ name }) => name === 'orderBy');

/** `User` of `UserConnection!`. */
export const listOf = ({ type }: GraphQLField<unknown, unknown>): string => String(type).replace(/Connection!?$/, '');

/** How many fields and so on there are once fragments stand where they are spread; a document that is refused for its size is not asked. */
export function sizeOfDocument(document: DocumentNode): {
  fields: number;
  lists: number;
  aliases: number;
  directives: number;
} {
  const fragments = new Map(
    document.definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((definition) => [definition.name.value, definition]),
  );
  const size = { fields: 0, lists: 0, aliases: 0, directives: 0 };
  const count = (node: { readonly kind: string }): void => {
    visit(node as DocumentNode, {
      Field(field) {
        size.fields += 1;
        if (field.arguments?.length || field.selectionSet) size.lists += 1;
        if (field.alias) size.aliases += 1;
      },
      Directive() {
        size.directives += 1;
      },
      FragmentSpread(spread) {
        const fragment = fragments.get(spread.name.value);
        if (fragment && size.fields < 5000) count(fragment.selectionSet);
      },
    });
  };
  for (const definition of document.definitions) if (definition.kind === Kind.OPERATION_DEFINITION) count(definition);
  return size;
}
