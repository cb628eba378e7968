import type { QueryConfig } from 'pg';

/**
 * The statements of resolvers and loaders. They use the same access paths as all peers: keys in their order, subtrees by
 * app_hidden.first_accessible_unit_ids; which rows there are is up to the policies.
 */
export const statements = {
  viewer: (): QueryConfig => ({
    name: 'viewer',
    text: `select id, ${person} from app_public.users where id = (select app_hidden.current_user_id())`,
  }),
  accessibleUnits: (user: string, first: number): QueryConfig => ({
    name: 'accessible_units',
    text: `
      select u.id, u.name
      from app_hidden.first_accessible_unit_ids($1, $2, null) as candidate (id)
      join app_public.units u on u.organization_id = (select app_hidden.current_organization_id()) and u.id = candidate.id
      order by u.id limit $2`,
    values: [user, first],
  }),
  app: (): QueryConfig => ({ name: 'app', text: 'select id, name from app_public.app' }),
  users: (keys: readonly string[]): QueryConfig => ({
    name: 'users',
    text: `select id, ${person} from app_public.users where id = any ($1::uuid[]) order by id`,
    values: [keys],
  }),
  cardAssignments: (users: readonly string[]): QueryConfig => ({
    name: 'card_assignments',
    text: 'select id, user_id, card_id from app_public.card_assignments where user_id = any ($1::uuid[]) order by id',
    values: [users],
  }),
  cards: (keys: readonly string[]): QueryConfig => ({
    name: 'cards',
    text: `
      select id, type as "__typename", name, proximity_uuid as "proximityUuid", major, minor, nfc_identifier as "nfcIdentifier"
      from app_public.cards where id = any ($1::uuid[])`,
    values: [keys],
  }),
  rootUnits: (first: number): QueryConfig => ({
    name: 'root_units',
    text: 'select id, name from app_public.units where parent_id is null order by id limit $1',
    values: [first],
  }),
  children: (parents: readonly string[], first: number): QueryConfig => ({
    name: 'children',
    text: `
      select child.id, child.name, parent.id as parent_id
      from unnest($1::uuid[]) as parent (id)
      cross join lateral (
        select id, name from app_public.units where parent_id = parent.id order by id limit $2
      ) as child`,
    values: [parents, first],
  }),
  userCreate: (values: Readonly<Record<string, unknown>>): QueryConfig => ({
    name: 'user_create',
    text: `select id, ${person} from app_public.user_create($1, $2, $3, $4, external_identifier => $5)`,
    values: [values.fullName, values.email, values.locale, values.timeZone, values.externalIdentifier],
  }),
};

const person = `full_name as "fullName", email, locale, time_zone as "timeZone", external_identifier as "externalIdentifier"`;
