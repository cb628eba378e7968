import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Tenant } from '../../graphql/support.ts';

export type ChangeWriters = {
  /** Transactions and mutations by their outcome: what writers were told. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
};

export type Target = { readonly serviceUrl: () => string; readonly ownerUrl: string };

/** A random whole number below a bound. */
export type Draw = (bound: number) => number;

/** Writes once; says what became of it. */
type Write = () => Promise<string>;

/** How many writers of a kind there are. */
export type Counts = Readonly<Record<keyof typeof kinds, number>>;

/** Writers of one organization, which all write the same rows. The name of a card counts its updates, when it is a number. */
export function startChangeWriters(target: Target, tenant: Tenant, counts: Partial<Counts>, draw: Draw): ChangeWriters {
  const outcomes = new Map<string, number>();
  let isWriting = true;
  const run = async (name: string, write: Write) => {
    while (isWriting) {
      const outcome = `${name} ${await write()}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      // Leaves the machine to what is starting.
      if (/none|lost|503/.test(outcome)) await delay(50);
    }
  };
  const all = Object.entries(counts).flatMap(([name, count]) =>
    Array.from({ length: count }, () => run(name, kinds[name as keyof Counts](target, tenant, draw))),
  );
  return {
    outcomes,
    async stop() {
      isWriting = false;
      await Promise.all(all);
    },
  };
}

const kinds = {
  /** Mutations on few objects, known by their external identifiers. */
  clients: ({ serviceUrl }: Target, { app }: Tenant, draw: Draw): Write => {
    const one = (kind: string) => `"${kind}${draw(30)}"`;
    const mutations = [
      () => `userCreate(fullName: "Ada", email: "${draw(1e9)}@writers.test", externalIdentifier: ${one('user')})`,
      () => `userUpdate(fullName: "Ada ${draw(1e9)}", externalIdentifier: ${one('user')})`,
      () => `userDelete(externalIdentifier: ${one('user')})`,
      () => `unitCreate(name: "Floor", externalIdentifier: ${one('unit')})`,
      () => `unitUpdate(externalIdentifier: ${one('unit')}, parentExternalIdentifier: ${one('unit')})`,
      () => `unitDelete(externalIdentifier: ${one('unit')}, withDescendants: true)`,
      () => `identificationCodeCreate(name: "Badge", externalIdentifier: ${one('card')})`,
      () => `cardUpdate(name: "Badge ${draw(1e9)}", externalIdentifier: ${one('card')})`,
      () => `cardDelete(externalIdentifier: ${one('card')})`,
      () => `cardAssign(cardExternalIdentifier: ${one('card')}, userExternalIdentifier: ${one('user')})`,
      () => `cardUnassign(cardExternalIdentifier: ${one('card')}, userExternalIdentifier: ${one('user')})`,
      () => `accessGrant(unitExternalIdentifier: ${one('unit')}, userExternalIdentifier: ${one('user')})`,
      () => `accessRevoke(unitExternalIdentifier: ${one('unit')}, userExternalIdentifier: ${one('user')})`,
    ];
    return async () => {
      const calls = Array.from({ length: 1 + draw(3) }, (_, n) => `m${n}: ${pick(mutations, draw)()} { __typename }`);
      return mutate(serviceUrl(), app, `mutation { ${calls.join(' ')} }`, draw(3) === 0 ? crypto.randomUUID() : null);
    };
  },

  /** Hundreds of cards at a time, for volume. */
  batches: session(
    (tenant, draw) => {
      const some = (count: number) => `id in (select id from app_public.cards
      where ${of(tenant)} and name ~ '^\\d+$' order by random() limit ${1 + draw(count)} for update skip locked)`;
      return [
        insertCards(tenant, 1 + draw(500)),
        `update app_public.cards set name = (name::int + 1)::text where ${of(tenant)} and ${some(300)}`,
        `delete from app_public.cards where ${of(tenant)} and ${some(300)}`,
        `insert into app_public.users (organization_id, full_name, email)
       select '${tenant.organizationId}', 'Grace', gen_random_uuid() || '@writers.test' from generate_series(1, ${1 + draw(20)})`,
        `insert into app_public.card_assignments (organization_id, user_id, card_id)
       select organization_id, u.id, c.id from (select * from app_public.users where ${of(tenant)} order by random() limit 10) as u
       join (select * from app_public.cards where ${of(tenant)} order by random() limit 10) as c using (organization_id)
       on conflict do nothing`,
        `delete from app_public.users where ${of(tenant)} and full_name = 'Grace' and id in (
         select id from app_public.users where ${of(tenant)} order by random() limit ${1 + draw(20)})`,
      ];
    },
    { afterwards: () => delay(50) },
  ),

  /** The same few rows as others, which are deleted and made again under the same keys. */
  rivals: session((tenant, draw) => rivalStatements(tenant, draw)),

  /** Open for 2 s after the first write; then it writes what others have written meanwhile. */
  sleepers: session((tenant, draw) => rivalStatements(tenant, draw), { inside: () => delay(2000) }),

  /** Uses up transaction ids of which a crash leaves no trace. */
  wasters: session((tenant, draw) => [
    'select pg_current_xact_id()',
    `${insertCards(tenant, 3)}; rollback; begin; select pg_current_xact_id(); rollback; begin`,
    `savepoint wasted; ${insertCards(tenant, 2)}; rollback to wasted`,
    `do $$ begin for n in 1..${1 + draw(50)} loop begin ${insertCards(tenant, 1)}; raise division_by_zero;
       exception when division_by_zero then null; end; end loop; end $$`,
    ...rivalStatements(tenant, draw),
  ]),
};

const of = ({ organizationId }: Tenant) => `organization_id = '${organizationId}'`;

const insertCards = ({ organizationId }: Tenant, count: number) =>
  `insert into app_public.cards (organization_id, type, name) select '${organizationId}', 'IdentificationCode', '0' from generate_series(1, ${count})`;

/** On 20 keys. */
function rivalStatements(tenant: Tenant, draw: Draw): string[] {
  const id = () => `md5('${tenant.organizationId} ${draw(20)}')::uuid`;
  return [
    `insert into app_public.cards (organization_id, id, type, name)
     values ('${tenant.organizationId}', ${id()}, 'IdentificationCode', '0')
     on conflict (organization_id, id) do nothing`,
    `update app_public.cards set name = (name::int + 1)::text where ${of(tenant)} and id = ${id()}`,
    `delete from app_public.cards where ${of(tenant)} and id = ${id()}`,
    `insert into app_public.cards (organization_id, id, type, name) values ('${tenant.organizationId}', ${id()}, 'IdentificationCode', '0')
     on conflict (organization_id, id) do update set name = (cards.name::int + 1)::text`,
  ];
}

/** Transactions of a session of its own, which begins anew when it is cut. Some are rolled back, or a part of them is. */
function session(
  statementsOf: (tenant: Tenant, draw: Draw) => string[],
  {
    inside = async () => undefined,
    afterwards = async () => undefined,
  }: { inside?: () => Promise<unknown>; afterwards?: () => Promise<unknown> } = {},
) {
  return ({ ownerUrl }: Target, tenant: Tenant, draw: Draw): Write => {
    let client: Client | null = null;
    const connect = async () => {
      const made = new Client({ connectionString: ownerUrl });
      made.on('error', () => undefined);
      await made.connect();
      return made;
    };
    const transact = async (open: Client): Promise<string> => {
      await open.query('begin');
      for (let left = 1 + draw(5), isFirst = true; left > 0; left--, isFirst = false) {
        const statement = pick(statementsOf(tenant, draw), draw);
        const nested = [`savepoint s; ${statement}; release s`, `savepoint s; ${statement}; rollback to s`];
        // What ends the transaction ends its savepoints.
        const forms = statement.includes('; rollback;') ? [statement] : [statement, statement, ...nested];
        await open.query(pick(forms, draw));
        if (isFirst) await inside();
      }
      const end = draw(5) === 0 ? 'rollback' : 'commit';
      await open.query(end);
      await afterwards();
      return end;
    };
    return async () => {
      try {
        client ??= await connect();
      } catch {
        return 'none';
      }
      const open = client;
      try {
        return await transact(open);
      } catch (error) {
        // A deadlock, or the server is gone.
        const isAlive = await open.query('rollback').then(
          () => true,
          () => false,
        );
        if (isAlive) return (error as { code?: string }).code ?? 'failed';
        client = null;
        await open.end().catch(() => undefined);
        return 'lost';
      }
    };
  };
}

const pick = <T>(list: readonly T[], draw: Draw): T => list[draw(list.length)] as T;

async function mutate(url: string, token: string, query: string, idempotencyKey: string | null): Promise<string> {
  const headers = new Headers({ 'Content-Type': 'application/json', Authorization: `Bearer ${token}` });
  if (idempotencyKey) headers.set('Idempotency-Key', idempotencyKey);
  try {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query }),
      signal,
    });
    await response.text();
    return String(response.status);
  } catch {
    // Nothing was there, or it went away meanwhile.
    return 'none';
  }
}
