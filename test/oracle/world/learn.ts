import type { DocumentNode, GraphQLSchema } from 'graphql';
import { parse } from 'graphql';
import type { Caller } from '../access.ts';
import { answerOf } from '../answer.ts';
import { differenceOf } from '../compare.ts';
import { Cursors } from '../cursors.ts';
import type { Rows } from '../rows.ts';
import type { Service } from '../service.ts';

/** Orders whose cursors are learned, and which documents ask for; each is one signature in several directions. */
export const learnedOrders: Readonly<Record<string, readonly (readonly string[])[]>> = {
  User: [
    ['PRIMARY_KEY_ASC'],
    ['FULL_NAME_ASC'],
    ['EMAIL_DESC'],
    ['EXTERNAL_IDENTIFIER_ASC'],
    ['FULL_NAME_DESC', 'EXTERNAL_IDENTIFIER_ASC'],
    ['PRIMARY_KEY_DESC', 'EMAIL_ASC'],
  ],
  Unit: [
    ['PRIMARY_KEY_ASC'],
    ['NAME_DESC'],
    ['EXTERNAL_IDENTIFIER_DESC'],
    ['NAME_ASC', 'PRIMARY_KEY_DESC'],
    ['EXTERNAL_IDENTIFIER_ASC', 'NAME_DESC'],
  ],
  Card: [['PRIMARY_KEY_ASC'], ['EXTERNAL_IDENTIFIER_ASC'], ['EXTERNAL_IDENTIFIER_DESC', 'PRIMARY_KEY_DESC']],
  AccessGrant: [['PRIMARY_KEY_ASC'], ['PRIMARY_KEY_ASC', 'PRIMARY_KEY_DESC']],
};

/**
 * Reads all of an organization in several orders with an app token: its ids must be those that the oracle makes, and its cursors
 * are learned.
 */
export async function learnCursors(
  service: Service,
  schema: GraphQLSchema,
  { rows, caller, token }: { rows: Rows; caller: Caller; token: string },
): Promise<Cursors> {
  const cursors = new Cursors(caller.organizationId);
  const learn = async (text: string): Promise<void> => {
    const document: DocumentNode = parse(text);
    const expected = answerOf(schema, document, {}, { rows, caller, cursors: [cursors] });
    const got = await service.ask(token, text, {});
    const difference = differenceOf(expected, got, cursors);
    if (difference) throw new Error(`${text}\n${JSON.stringify(difference, null, 2)}`);
  };
  for (const [list, field] of Object.entries({ User: 'users', Unit: 'units', Card: 'cards' })) {
    for (const orderBy of learnedOrders[list] ?? []) {
      await learn(`{ app { ${field}(first: 1000, orderBy: [${orderBy.join()}]) { edges { cursor node { id } } } } }`);
    }
  }
  for (const orderBy of learnedOrders.AccessGrant ?? []) {
    await learn(
      `{ app { users(first: 1000) { nodes { accessGrants(orderBy: [${orderBy.join()}]) { edges { cursor node { id } } } } } } }`,
    );
  }
  return cursors;
}
