import { decodeNodeId } from '../../../../plugins/NodeIdPlugin.ts';
import type { OperationName } from '../../operations.ts';

type Variables = Readonly<Record<string, unknown>>;
type HandWritten = { readonly sql: string; values(variables: Variables): unknown[] };

/** One statement per operation; each returns one row with the answer's `data` as text. */
export const statements: Readonly<Record<OperationName, HandWritten>> = {
  Q1: {
    sql: `
      select json_build_object('viewer', (
        select json_build_object('id', ${nodeId('User', 'v.id')}, 'fullName', v.full_name, 'email', v.email,
          'accessibleUnits', json_build_object('nodes', (
            select coalesce(json_agg(json_build_object('id', ${nodeId('Unit', 'u.id')}, 'name', u.name) order by u.id), '[]')
            from (
              select u.id, u.name
              from app_hidden.first_accessible_unit_ids($1, null) as candidate (id)
              join app_public.units u on u.organization_id = v.organization_id and u.id = candidate.id
              order by u.id
              limit $1
            ) as u)))
        from app_public.viewer v))::text as data`,
    values: ({ first }) => [first],
  },
  Q2: {
    sql: `
      select json_build_object('app', (
        select json_build_object('users', json_build_object('nodes', (
          select coalesce(json_agg(json_build_object('id', ${nodeId('User', 'u.id')}, 'fullName', u.full_name, 'email', u.email, 'cardAssignments', (
            select coalesce(json_agg(json_build_object('id', ${nodeId('CardAssignment', 'a.id')}, 'card',
              case c.type
                when 'NfcCard' then json_build_object('__typename', c.type, 'id', ${nodeIdOf('c.type', 'c.id')}, 'name', c.name, 'nfcIdentifier', c.nfc_identifier)
                else json_build_object('__typename', c.type, 'id', ${nodeIdOf('c.type', 'c.id')}, 'name', c.name)
              end) order by a.id), '[]')
            from app_public.card_assignments a
            join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
            where a.organization_id = u.organization_id and a.user_id = u.id
          )) order by u.id), '[]')
          from app_public.users u
          where u.organization_id = app.organization_id and u.id = any ($1::uuid[]))))
        from app_public.app))::text as data`,
    values: ({ ids }) => [(ids as string[]).map((id) => decodeNodeId(id)?.[1])],
  },
  Q3: {
    sql: `
      select json_build_object('app', (
        select json_build_object('rootUnits', json_build_object('nodes', (
          select coalesce(json_agg(json_build_object('id', ${nodeId('Unit', 'a.id')}, 'name', a.name, 'children', json_build_object('nodes', (
            select coalesce(json_agg(json_build_object('id', ${nodeId('Unit', 'b.id')}, 'name', b.name, 'children', json_build_object('nodes', (
              select coalesce(json_agg(json_build_object('id', ${nodeId('Unit', 'c.id')}, 'name', c.name) order by c.id), '[]')
              from (
                select id, name from app_public.units
                where organization_id = b.organization_id and parent_id = b.id order by id limit $1
              ) as c
            ))) order by b.id), '[]')
            from (
              select organization_id, id, name from app_public.units
              where organization_id = a.organization_id and parent_id = a.id order by id limit $1
            ) as b
          ))) order by a.id), '[]')
          from (
            select organization_id, id, name from app_public.units
            where organization_id = app.organization_id and parent_id is null order by id limit $1
          ) as a)))
        from app_public.app))::text as data`,
    values: ({ first }) => [first],
  },
  M1: {
    sql: `
      select json_build_object('userCreate', json_build_object('user', json_build_object(
        'id', ${nodeId('User', 'u.id')}, 'fullName', u.full_name, 'email', u.email, 'locale', u.locale, 'timeZone', u.time_zone,
        'externalIdentifier', u.external_identifier)))::text as data
      from app_public.user_create(app_hidden.uuid_v7(), $1::jsonb) u`,
    values: (variables) => [JSON.stringify(variables)],
  },
};

function nodeId(type: string, column: string): string {
  return nodeIdOf(`'${type}'`, column);
}

/** As NodeIdPlugin does it: what `type:uuid` gives in base64 has no character that differs in base64url, save padding and line ends. */
function nodeIdOf(type: string, column: string): string {
  return `rtrim(encode(convert_to(${type} || ':' || ${column}, 'UTF8'), 'base64'), E'=\\n')`;
}
