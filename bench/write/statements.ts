type Variables = Readonly<Record<string, unknown>>;
type Statement = { readonly text: string; readonly values: (variables: Variables) => readonly unknown[] };

const own = '(select app_hidden.current_organization_id())';

/** As the service writes it. */
const idOf = (type: string, key: string) => `rtrim(encode(('${type}:' || ${key})::bytea, 'base64'), E'=\\n')`;

const member = (field: string, row: string, id: string) =>
  `select '"${field}":' || json_build_object('${row}', json_build_object('id', ${id})) as data from written`;

/** Hand-written SQL of each operation: its triggers, checks and keys are the tables' own. It judges no row: one that is wrong refuses all. */
export const statements = {
  usersSync: [
    {
      text: `
        with written as (
          insert into app_public.users (organization_id, external_identifier, full_name, email, locale, time_zone)
          select app_hidden.current_organization_id(), given.*
          from jsonb_to_recordset($1) as given (
            "externalIdentifier" text, "fullName" text, email text, locale text, "timeZone" text)
          on conflict (organization_id, external_identifier) do update set
            full_name = excluded.full_name, email = excluded.email, locale = excluded.locale, time_zone = excluded.time_zone
          returning external_identifier
        )
        select '"usersSync":' || json_build_object(
          'results', json_agg(json_build_object('externalIdentifier', external_identifier))) as data
        from written`,
      values: ({ users }) => [JSON.stringify(users)],
    },
  ],
  cardsSync: [
    {
      text: `
        with written as (
          insert into app_public.cards (organization_id, type, external_identifier, name, nfc_identifier)
          select app_hidden.current_organization_id(), 'NfcCard', g."externalIdentifier", g.name, upper(g."nfcIdentifier")
          from jsonb_to_recordset($1) as g ("externalIdentifier" text, name text, "nfcIdentifier" text)
          on conflict (organization_id, external_identifier) do update set
            name = excluded.name, nfc_identifier = excluded.nfc_identifier
          returning external_identifier
        )
        select '"cardsSync":' || json_build_object(
          'results', json_agg(json_build_object('externalIdentifier', external_identifier))) as data
        from written`,
      values: ({ cards }) => [JSON.stringify(cards)],
    },
  ],
  cardsAssign: [
    {
      text: `
        with written as (
          insert into app_public.card_assignments (organization_id, user_id, card_id)
          select c.organization_id, u.id, c.id
          from jsonb_to_recordset($1) as g ("externalIdentifier" text, "userExternalIdentifier" text)
          join app_public.cards c on c.organization_id = ${own} and c.external_identifier = g."externalIdentifier"
          join app_public.users u on u.organization_id = c.organization_id and u.external_identifier = g."userExternalIdentifier"
          on conflict do nothing
          returning id
        )
        select '"cardsAssign":' || json_build_object('results', count(*)) as data from written`,
      values: ({ cards }) => [JSON.stringify(cards)],
    },
  ],
  unitCreate: [
    {
      text: `
        with written as (
          insert into app_public.units (organization_id, parent_id, external_identifier, name)
          select p.organization_id, p.id, $2, $1
          from app_public.units p
          where p.organization_id = ${own} and p.external_identifier = $3
          returning id
        )
        ${member('unitCreate', 'unit', idOf('Unit', 'id'))}`,
      values: ({ name, identifier, parent }) => [name, identifier, parent],
    },
  ],
  cardCreateAndAssign: [
    {
      text: `
        with written as (
          insert into app_public.cards (organization_id, type, name, nfc_identifier, external_identifier)
          values (${own}, 'NfcCard', $1, upper($2), $3)
          returning id
        )
        ${member('nfcCardCreate', 'card', idOf('NfcCard', 'id'))}`,
      values: ({ name, nfcIdentifier, identifier }) => [name, nfcIdentifier, identifier],
    },
    {
      text: `
        with written as (
          insert into app_public.card_assignments (organization_id, user_id, card_id)
          select c.organization_id, u.id, c.id
          from app_public.cards c
          join app_public.users u on u.organization_id = c.organization_id and u.external_identifier = $2
          where c.organization_id = ${own} and c.external_identifier = $1
          returning id
        )
        ${member('cardAssign', 'cardAssignment', idOf('CardAssignment', 'id'))}`,
      values: ({ identifier, user }) => [identifier, user],
    },
  ],
  accessGrant: [
    {
      text: `
        with written as (
          insert into app_hidden.unit_access (organization_id, user_id, unit_id)
          select t.organization_id, u.id, t.id
          from app_public.units t
          join app_public.users u on u.organization_id = t.organization_id and u.external_identifier = $1
          where t.organization_id = ${own} and t.external_identifier = $2
          returning user_id, unit_id
        )
        ${member('accessGrant', 'accessGrant', idOf('AccessGrant', `user_id || ':' || unit_id`))}`,
      values: ({ user, parent }) => [user, parent],
    },
  ],
} satisfies Record<string, readonly Statement[]>;
