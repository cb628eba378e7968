import { insufficientPrivilege } from './attempts.ts';
import { type CalledFunction, keysOf, ofRow } from './calledFunction.ts';
import type { Circumstances } from './commands.ts';
import { externalIdentifier, webhookId } from './insertWorld.ts';
import { keyOf } from './world.ts';

/** Functions of app_public, which are mutations or fields of rows. */
export const publicFunctions: Record<string, CalledFunction> = {
  'app_public.unit_create(text,text,uuid,text)': creating('unit', 'unit_create', `'x', $1`),
  'app_public.beacon_card_create(text,uuid,integer,integer,text)': creating(
    'card',
    'beacon_card_create',
    `'x', gen_random_uuid(), 0, 0, $1`,
  ),
  'app_public.nfc_card_create(text,text,text)': creating('card', 'nfc_card_create', `'x', '04A224B2', $1`),
  'app_public.identification_code_create(text,text)': creating('card', 'identification_code_create', `'x', $1`),
  'app_public.unit_update(uuid,text,text,uuid,text,text[])': ofRow(
    'unit',
    `select name from app_public.unit_update($1, $2, 'x', given => '{name}')`,
    () => 'x',
  ),
  'app_public.card_update(uuid,text,text,text[])': ofRow(
    'card',
    `select name from app_public.card_update($1, $2, 'x', '{name}')`,
    () => 'x',
  ),
  'app_public.unit_delete(uuid,text,boolean)': ofRow(
    'unit',
    `select id from app_public.unit_delete($1, nullif($2, $2), true)`,
    (unit) => unit,
  ),
  'app_public.card_delete(uuid,text)': ofRow(
    'card',
    `select id from app_public.card_delete($1, nullif($2, $2))`,
    (card) => card,
  ),
  'app_public.card_assign(uuid,text,uuid,text)': ofPair(
    'card',
    'select user_id from app_public.card_assign(card_id => $1, user_id => $2)',
    () => true,
  ),
  'app_public.card_unassign(uuid,uuid,text,uuid,text)': ofPair(
    'card',
    'select user_id from app_public.card_unassign(card_id => $1, user_id => $2)',
    (user, card, { world: { assignments } }, organization) =>
      assignments.some((row) => row.organization === organization && row.user === user && row.card === card),
  ),
  'app_public.access_grant(uuid,text,uuid,text,timestamp with time zone,timestamp with time zone,text,text[])': ofPair(
    'unit',
    'select user_id from app_public.access_grant(unit_id => $1, user_id => $2)',
    () => true,
  ),
  'app_public.access_revoke(uuid,uuid,text,uuid,text,text)': ofPair(
    'unit',
    'select user_id from app_public.access_revoke(user_id => $2, unit_id => $1)',
    (user, unit, { world: { access } }, organization) =>
      access.some((row) => row.organization === organization && row.user === user && row.unit === unit),
  ),
  'app_public.user_update(uuid,text,text,text,text,text,text,jsonb,text[])': ofRow(
    'user',
    `select full_name from app_public.user_update($1, $2, 'x', given => '{fullName}')`,
    () => 'x',
  ),
  'app_public.user_delete(uuid,text)': ofRow(
    'user',
    'select id from app_public.user_delete($1, nullif($2, $2))',
    (user) => user,
  ),
  'app_public.users_delete(uuid[],text[])': {
    roles: ['graph_app'],
    text: 'select outcome::text from app_public.users_delete(array[$1::uuid, $1::uuid])',
    values: ({ world, organization, number }) => [keyOf(world, 'user', organization, number)],
    expected: (on) => {
      const user = keyOf(on.world, 'user', on.organization, on.number);
      return [keysOf('app_public.users', on).includes(user) ? 'DELETED' : 'NOT_FOUND', 'NOT_FOUND'];
    },
  },
  'app_public.user_create(text,text,text,text,text,text,jsonb)': {
    roles: ['graph_app'],
    text: `select id from app_public.user_create(
      'x', $2, external_identifier => $3, external_authentication_token => jsonb_build_object('userId', $1::text))`,
    // Its e-mail address and its external identifier may be taken, here or elsewhere.
    values: ({ world, organization, number }) => {
      const user = keyOf(world, 'user', organization, number);
      return [
        keyOf(world, 'user', organization, number + 50),
        `user${user.slice(-12)}@EXAMPLE.test`,
        externalIdentifier(user),
      ];
    },
    expected: ({ world, organization, number, principal: { claims } }) => {
      // Before the policy: without claims no time zone is seen.
      if (claims.organization === '') return { refused: '23514' };
      if (!world.organizations.includes(claims.organization)) return { refused: '23503' };
      const user = keyOf(world, 'user', claims.organization, number);
      const taken = world.users.some((row) => row.organization === claims.organization && row.user === user);
      return taken ? { refused: '23505' } : [keyOf(world, 'user', organization, number + 50)];
    },
  },
  'app_public.webhook_create(text,text[],jsonb)': {
    roles: ['graph_app'],
    text: `select id from app_public.webhook_create('https://example.com', null,
      jsonb_build_object('webhookId', $1::text, 'ciphertext', repeat('00', 28)))`,
    values: ({ world, organization, number }) => [keyOf(world, 'user', organization, number + 50)],
    expected: ({ world, organization, number, principal: { claims } }) => {
      if (claims.organization === '') return { refused: insufficientPrivilege };
      if (!world.organizations.includes(claims.organization)) return { refused: '23503' };
      return [keyOf(world, 'user', organization, number + 50)];
    },
  },
  'app_public.webhook_update(uuid,text,text[],boolean,text[])': ofWebhook('url', 'webhook_update($1)'),
  'app_public.webhook_rotate_secret(uuid,jsonb)': ofWebhook(
    'id',
    `webhook_rotate_secret($1, jsonb_build_object('ciphertext', repeat('00', 28)))`,
  ),
  'app_public.webhook_delete(uuid)': ofWebhook('id', 'webhook_delete($1)'),
  'app_public.webhook_redeliver(uuid)': ofWebhook('id', 'webhook_redeliver($1)'),
  'app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries)': {
    roles: ['graph_app', 'graph_user', 'graph_basic'],
    text: 'select count(app_public.webhook_deliveries_feed_row(d))::text from app_public.webhook_deliveries d',
    values: () => [],
    // The changes of these are gone.
    expected: () => ['0'],
  },
};

/** A function that finds the webhook of the organization, or its delivery. */
function ofWebhook(column: 'id' | 'url', call: string): CalledFunction {
  return {
    roles: ['graph_app'],
    text: `select ${column} from app_public.${call}`,
    values: () => [webhookId],
    expected: (on) =>
      keysOf('app_public.webhooks', on).includes(webhookId)
        ? [column === 'id' ? webhookId : 'https://example.com']
        : [],
  };
}

/** A function that adds a row, whose external identifier may be taken, here or elsewhere. */
function creating(kind: 'unit' | 'card', name: string, given: string): CalledFunction {
  return {
    roles: ['graph_app'],
    text: `select external_identifier from app_public.${name}(${given})`,
    values: ({ world, organization, number }) => [externalIdentifier(keyOf(world, kind, organization, number))],
    expected: (on) => {
      const { world, number, principal } = on;
      const { organization } = principal.claims;
      if (organization === '') return { refused: insufficientPrivilege };
      if (!world.organizations.includes(organization)) return { refused: '23503' };
      const key = keyOf(world, kind, organization, number);
      return keysOf(`app_public.${kind}s`, on).includes(key) ? { refused: '23505' } : [externalIdentifier(key)];
    },
  };
}

/** A function of a user and of a unit or card of theirs, which answers with the user. */
function ofPair(
  kind: 'unit' | 'card',
  text: string,
  answers: (user: string, key: string, on: Circumstances, organization: string) => boolean,
): CalledFunction {
  const keysOfPair = ({ world, organization, number }: Circumstances) =>
    [keyOf(world, kind, organization, number), keyOf(world, 'user', organization, number)] as const;
  return {
    roles: ['graph_app'],
    text,
    values: (on) => [...keysOfPair(on)],
    expected: (on) => {
      const [key, user] = keysOfPair(on);
      const isThere = keysOf(`app_public.${kind}s`, on).includes(key) && keysOf('app_public.users', on).includes(user);
      return isThere && answers(user, key, on, on.principal.claims.organization) ? [user] : [];
    },
  };
}
