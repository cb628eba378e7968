import type { Mutate } from './mutating.ts';
import { type GraphTest, read } from './support.ts';

/** The arguments of a mutation that creates a beacon card, but for its external identifier. */
export const beacon = { name: 'Phone', proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 0, minor: 65535 };

/** The selection of a mutation that makes or withdraws an assignment. */
export const assignment = 'cardAssignment { id card { name } user { fullName } }';

/** Creates an identification code, and returns its id. */
export async function createIdentificationCode(mutate: Mutate, args: object): Promise<string> {
  const created = await mutate('identificationCodeCreate', { name: 'PIN', ...args }, 'card { id }');
  return (created as { card: { id: string } }).card.id;
}

/** The cards of the token's organization, with those who have them. */
export const readCards = async (graph: GraphTest, token: string) =>
  (
    await read<{ app: { cards: { nodes: object[] } } }>(
      graph,
      token,
      '{ app { cards { nodes { name cardAssignments { user { fullName } } } } } }',
    )
  ).app.cards.nodes;
