import { type CalledFunction, visible } from './calledFunction.ts';
import { clientId, hash, writtenLsn } from './insertWorld.ts';
import { keyOf } from './world.ts';

/** Functions of the feed of changes, and of the OAuth server, which also purges. */
export const serviceFunctions: Record<string, CalledFunction> = {
  'feed.followed()': {
    roles: ['graph_app'],
    text: 'select count(*)::text from feed.followed()',
    values: () => [],
    expected: () => ['5'],
  },
  'oauth.purge_rows(text,integer)': {
    roles: ['graph_oauth'],
    text: `select string_agg(purged::text, '')
      from unnest('{authorization_codes,sessions,throttles,idempotency_keys,deliveries}'::text[]) as kind, oauth.purge_rows(kind, $1)`,
    values: () => ['100'],
    expected: () => ['00000'],
  },
  'oauth.find_application(text)': {
    roles: ['graph_oauth'],
    text: 'select id from oauth.find_application($1)',
    values: ({ world, organization, number }) => [
      clientId({ organization, application: keyOf(world, 'application', organization, number) }),
    ],
    expected: ({ world, organization, number }) =>
      world.applications
        .filter(
          (row) =>
            row.organization === organization && row.application === keyOf(world, 'application', organization, number),
        )
        .map(({ application }) => application),
  },
  'oauth.verify_access_token(bytea)': {
    roles: ['graph_oauth'],
    text: `select format('%s %s %s', organization_id, grant_id, user_id) from oauth.verify_access_token($1)`,
    values: ({ world, organization, number }) => [
      hash('access', organization, keyOf(world, 'grant', organization, number)),
    ],
    expected: ({ world, organization, number }) =>
      world.grants
        .filter((row) => row.organization === organization && row.grant === keyOf(world, 'grant', organization, number))
        .map(({ grant, user }) => `${organization} ${grant} ${user ?? ''}`),
  },
  'oauth.written_lsn(uuid,uuid)': {
    roles: ['graph_oauth'],
    text: 'select oauth.written_lsn($1, $2)',
    values: ({ world, organization, number }) => [organization, keyOf(world, 'grant', organization, number)],
    expected: ({ world, organization, number }) => {
      const grant = keyOf(world, 'grant', organization, number);
      return world.grants.some((row) => row.organization === organization && row.grant === grant)
        ? [writtenLsn]
        : ['null'];
    },
  },
  'oauth.note_uses(text[],text[])': {
    roles: ['graph_oauth'],
    text: `select noted::text from oauth.note_uses('{graph_app}', '{table app_public.users}') as noted`,
    values: () => [],
    expected: () => ['null'],
  },
  'oauth.partition_state()': {
    roles: ['graph_oauth'],
    text: 'select concat(relation, in_default) from oauth.partition_state() order by 1',
    values: () => [],
    expected: () => ['audit.changes0', 'feed.changes0'],
  },
  'oauth.purge_tokens(integer)': {
    roles: ['graph_oauth'],
    text: 'select purged::text from oauth.purge_tokens($1) as purged',
    values: () => ['100'],
    expected: () => ['(0,0,0)'],
  },
  'oauth.purge_changes(integer)': {
    roles: ['graph_oauth'],
    text: 'select purged::text from oauth.purge_changes($1) as purged',
    values: () => ['100'],
    expected: () => ['(0,0,0)'],
  },
  'feed.rotate_partitions()': {
    roles: ['graph_oauth'],
    text: 'select rotated::text from feed.rotate_partitions() as rotated',
    values: () => [],
    expected: () => ['(0,0)'],
  },
  'feed.changed_since(uuid[],xid8[],bigint[])': {
    roles: ['graph_oauth'],
    text: `select unnest(feed.changed_since(array[$1]::uuid[], '{0}', '{0}'))`,
    values: ({ organization }) => [organization],
    expected: ({ world, organization }) => world.organizations.filter((known) => known === organization),
  },
  'feed.last_change()': {
    roles: ['graph_app'],
    text: 'select horizon::text from feed.last_change()',
    values: () => [],
    expected: (on) => visible('feed.changes', on).map(() => '0'),
  },
  'feed.changes_after(xid8,bigint,integer)': {
    roles: ['graph_app'],
    text: `select type from feed.changes_after('0', 0, 100)`,
    values: () => [],
    expected: (on) => visible('feed.changes', on).map(() => 'kept'),
  },
};
