import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { encodeNodeId } from '../../../plugins/NodeIdPlugin.ts';
import type { Secrets } from '../../../src/crypto/secrets.ts';
import type { Scope } from '../../../src/token/scopes.ts';
import type { Claims } from '../../../src/token/settings.ts';

/** The caller whose claims an operation has. */
export type Caller = 'app' | 'app and basic' | 'person' | 'stranger' | 'basic';

export type OddRows = {
  readonly claims: Readonly<Record<Caller, Claims>>;
  readonly ids: readonly string[];
  readonly externalIdentifiers: readonly string[];
};

/**
 * Creates an organization of odd rows. Their texts have everything that can confuse text in text in JSON. There are nulls, empty lists and
 * a deep chain of units. There are also values that the schema excludes: nulls and types for which fields fail.
 */
export async function createOddRows(owner: Pool, secrets: Secrets): Promise<OddRows> {
  // Rows that break the schema's promises are kept out by these.
  await owner.query(`do $$ declare r record; begin
    for r in select conrelid::regclass as tbl, conname from pg_constraint
      where contype = 'c' and conrelid in ('app_public.users'::regclass, 'app_public.units'::regclass, 'app_public.cards'::regclass)
        and conname <> 'units_ancestor_ids_path'
    loop execute format('alter table %s drop constraint %I', r.tbl, r.conname); end loop; end $$`);
  const organizationId = randomUUID();
  const applicationId = randomUUID();
  await owner.query('insert into app_hidden.organizations (id, name) values ($1, $2)', [organizationId, 'Odd']);
  await owner.query(
    `insert into oauth.applications (organization_id, id, name, client_id, scopes) values ($1, $2, 'Odd "app" \\', 'odd', '{app,basic,me}')`,
    [organizationId, applicationId],
  );
  const insert = createInsert(owner, organizationId);
  const ids: string[] = [];

  const users: string[] = [];
  for (const [index, text] of oddTexts.entries()) {
    const id = await insert('app_public.users', {
      full_name: text,
      email: `${index}${text.slice(0, 20)}@odd.test`,
      external_identifier: index % 3 === 0 ? null : externalIdentifierOf(index),
    });
    users.push(id);
    const sealed = secrets.seal(`token of the user ${index} ${text}`, { organizationId, userId: id });
    // One of them was sealed for another user.
    const ciphertext = index === 5 ? secrets.seal('misplaced', { organizationId, userId: randomUUID() }) : sealed;
    if (index % 2 === 1)
      await owner.query(
        `update app_public.users set external_authentication_token_ciphertext = $3, external_authentication_token_hash = $4
         where organization_id = $1 and id = $2`,
        [organizationId, id, ciphertext, Buffer.from(randomUUID())],
      );
    for (const card of index % 4 === 3 ? [] : oddCards(index).slice(index % 7)) {
      // Only one person has the cards that break a promise of the schema.
      if ('isBroken' in card && index !== 8) continue;
      const { isBroken: _isBroken, ...values } = { isBroken: false, ...card };
      const cardId = await insert('app_public.cards', { ...values, name: text });
      const assignment = await insert('app_public.card_assignments', { user_id: id, card_id: cardId });
      if (index < 3) ids.push(encoded(card.type, cardId), encoded('CardAssignment', assignment));
    }
  }
  ids.push(...users.slice(0, 9).map((id) => encoded('User', id)));

  const units: string[] = [];
  const insertUnit = async (name: string, parent: string | null) => {
    const number = units.length;
    const external = number % 4 === 0 ? null : `${name.slice(0, 20)}${number}`;
    const id = await insert('app_public.units', { name, parent_id: parent, external_identifier: external });
    units.push(id);
    return id;
  };
  for (let root = 0; root < 4; root++) {
    const id = await insertUnit(oddTexts[root] ?? '', null);
    for (const text of oddTexts.slice(0, 3 * root)) {
      const child = await insertUnit(text, id);
      if (root === 2) for (const name of oddTexts.slice(3, 8)) await insertUnit(name, child);
    }
  }
  let last = await insertUnit('chain', null);
  const chain = [last];
  for (let level = 0; level < 20; level++) {
    last = await insertUnit(oddTexts[level % oddTexts.length] ?? '', last);
    chain.push(last);
  }
  ids.push(
    ...units.slice(0, 6).map((id) => encoded('Unit', id)),
    encoded('Unit', chain[2] ?? ''),
    encoded('Unit', last),
  );

  const [person = '', stranger = ''] = users;
  for (const unit of [chain[3], units[1]])
    await owner.query('insert into app_hidden.unit_access (organization_id, user_id, unit_id) values ($1, $2, $3)', [
      organizationId,
      person,
      unit,
    ]);
  await owner.query('analyze');

  const claimsOf = (userId: string | null, ...scopes: Scope[]): Claims => ({
    organizationId,
    applicationId,
    userId,
    scopes,
    grantId: randomUUID(),
    clientId: 'odd',
    createdAt: new Date(),
    expiresAt: new Date(),
  });
  const claims = {
    app: claimsOf(null, 'app'),
    'app and basic': claimsOf(null, 'app', 'basic'),
    person: claimsOf(person, 'me'),
    stranger: claimsOf(stranger, 'me'),
    basic: claimsOf(null, 'basic'),
  };
  return { claims, ids, externalIdentifiers: [1, 2, 4, 5].map(externalIdentifierOf) };
}

const externalIdentifierOf = (index: number) => `${(oddTexts[index] ?? '').slice(0, 20)}${index}`;

const encoded = (type: string, key: string) => String(encodeNodeId([type, key]));

function createInsert(owner: Pool, organizationId: string) {
  return async (table: string, values: Record<string, unknown>): Promise<string> => {
    const columns = Object.keys(values);
    const parameters = columns.map((_, index) => `$${index + 2}`);
    const { rows } = await owner.query<{ id: string }>(
      `insert into ${table} (organization_id, ${columns.join(', ')}) values ($1, ${parameters.join(', ')}) returning id`,
      [organizationId, ...Object.values(values)],
    );
    return rows[0]?.id ?? '';
  };
}

/** Marks of arrays, of JSON and of their escaping, what looks like null, and characters that are escaped or cut in two. */
const oddTexts = [
  'Plain',
  'two words',
  '"',
  '\\',
  '\\"',
  '"\\',
  '\\\\',
  '\\\\\\"x\\',
  '{a,"b",NULL}',
  '},{',
  '","',
  'NULL',
  'null',
  '{}',
  '',
  ' ',
  'a\tb\nc\rd\u0001\u001f',
  '\u007f\u0080\u009f\u2028\u2029\ufeff',
  '😀 ж é \u{10ffff}',
  "it's; --",
  `${'"\\'.repeat(60)}end`,
  'x'.repeat(1000),
];

/** The cards of a person. Each person has others, since identifiers are unique. */
const oddCards = (index: number) =>
  [
    { type: 'IdentificationCode' },
    { type: 'NfcCard', nfc_identifier: `04A224B2C13A${index + 16}` },
    { type: 'BeaconCard', proximity_uuid: randomUUID(), major: 0, minor: 65535 },
    { type: 'NfcCard', nfc_identifier: `\\"{${index}` },
    { type: 'BeaconCard', proximity_uuid: randomUUID(), major: -1, minor: 2147483647 },
    { type: 'NfcCard', nfc_identifier: null, isBroken: true },
    { type: 'BeaconCard', isBroken: true },
    { type: 'KeyCard', isBroken: true },
  ] as const;
