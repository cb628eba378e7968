import type { ClientBase, Pool } from 'pg';
import { ownerTransaction } from '../../database/pool/ownerTransaction.ts';
import { StartupError } from '../../errors/startupError.ts';
import { findCardProblems, writeCards } from '../../provisioning/cards.ts';
import { parseCard } from '../../provisioning/document.ts';
import { DocumentError } from '../../provisioning/problem.ts';
import { type FoundUser, findUser, nameOf, type UserName } from './findUser.ts';

/**
 * `admin assign-card`: gives a person a new card, or makes the one of this type and name what is said.
 *
 * @throws {DocumentError} for values that break a rule, or that another card of the organization has
 */
export function assignCard(owner: Pool, name: UserName, source: object) {
  const card = parseCard(source);
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    const entry = { organizationId: user.organizationId, value: { cards: [card] }, path: [] };
    const problems = await findCardProblems(client, [entry], [user]);
    // Below `cards[0]`.
    if (problems.length > 0)
      throw new DocumentError(problems.map(({ path, message }) => ({ path: path.slice(2), message })));
    await writeCards(client, [entry], [{ id: user.id, is_new: false }]);
    return { ...nameOf(user), card };
  });
}

/**
 * `admin withdraw-card`: takes a card from the person. A card without holders is deleted.
 *
 * @throws {StartupError} when the person has no such card
 */
export function withdrawCard(owner: Pool, name: UserName, card: { type: string; name: string }) {
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    const withdrawn = await client.query<{ card_id: string }>(
      `delete from app_public.card_assignments a
       using app_public.cards c
       where a.organization_id = $1 and a.user_id = $2
         and c.organization_id = a.organization_id and c.id = a.card_id and c.type = $3 and c.name = $4
       returning a.card_id`,
      [user.organizationId, user.id, card.type, card.name],
    );
    if (withdrawn.rowCount === 0) throw new StartupError(`The user has no ${card.type} named ${card.name}.`);
    await client.query(
      `delete from app_public.cards c
       where organization_id = $1 and id = any ($2)
         and not exists (
           select from app_public.card_assignments a where a.organization_id = c.organization_id and a.card_id = c.id)`,
      [user.organizationId, withdrawn.rows.map(({ card_id }) => card_id)],
    );
    return { ...nameOf(user), withdrawn: card };
  });
}

/** `admin assign-unit`: lets a person access a unit and everything below it, if not already. */
export function assignUnit(owner: Pool, name: UserName, unit: string) {
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    await client.query(
      `insert into app_hidden.unit_access (organization_id, user_id, unit_id) values ($1, $2, $3)
       on conflict do nothing`,
      [user.organizationId, user.id, await findUnit(client, user, unit)],
    );
    return { ...nameOf(user), unit };
  });
}

/**
 * `admin withdraw-unit`: ends what was given by hand. Access by way of a unit above stays.
 *
 * @throws {StartupError} when this unit was not assigned to the person
 */
export function withdrawUnit(owner: Pool, name: UserName, unit: string) {
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    const withdrawn = await client.query(
      `delete from app_hidden.unit_access
       where organization_id = $1 and user_id = $2 and unit_id = $3 and source is null`,
      [user.organizationId, user.id, await findUnit(client, user, unit)],
    );
    if (withdrawn.rowCount === 0) throw new StartupError(`The unit ${unit} is not assigned to the user itself.`);
    return { ...nameOf(user), withdrawn: unit };
  });
}

async function findUnit(client: ClientBase, { organizationId }: FoundUser, unit: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    'select id from app_public.units where organization_id = $1 and external_identifier = $2',
    [organizationId, unit],
  );
  const [found] = rows;
  if (!found) throw new StartupError(`The organization has no unit with the external identifier ${unit}.`);
  return found.id;
}
