import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client, type ClientBase } from 'pg';
import { type Acceptance, type Goal, isOpen, type Judgement, type Options, openProver, prove } from 'rls-prover';
import { asAdministrator, openTestDatabase } from '../../../../test/support/database.ts';

/** A schema in which a client of tenant 1 reads, changes or writes a row of tenant 2. */
export type Refuted = {
  title: string;
  /** Comes after `base`. */
  schema: string;
  /** What the client sends. */
  client: string | readonly string[];
  /** What a client of tenant 2 sent before, over the same connection. */
  earlier?: readonly string[];
  /** Relations whose rows all tenants share. */
  shared?: readonly string[];
  /** Limits the invariant to commands that may write this column. */
  column?: string;
  /** Everything open is accepted before this change. */
  change?: string;
  /** The first major version of PostgreSQL with this violation. */
  since?: number;
};

/** A schema that lets nothing through, next to one that does. */
export type Twin = Omit<Refuted, 'change'> & { isProven: boolean };

/** Policies and rights for everything that a tenant does with its own rows. */
export const guarded = (table: string, isVisible = 'tenant_id = app.t()'): string => `
  alter table ${table} enable row level security;
  create policy own on ${table} to client using (${isVisible});
  grant select, insert, update, delete on ${table} to client;`;

/** A table of two tenants' rows, of which each row may be seen when this is true. */
export const visible = (columns: string, rows: string, isVisible: string): string => `
  create table app.things (tenant_id int not null, id int primary key${columns && `, ${columns}`});
  insert into app.things values ${rows};
  alter table app.things enable row level security;
  create policy own on app.things for select to client using (${isVisible});
  grant select on app.things to client;`;

const base = `
  create role client nologin;
  create schema app;
  grant usage on schema app to client;
  create function app.t() returns int language sql stable
    as $$ select nullif(current_setting('app.tenant_id', true), '')::int $$;
  create table app.notes (tenant_id int not null, id int primary key, body text not null);
  insert into app.notes values (1, 1, 'of 1'), (2, 2, 'of 2');
  ${guarded('app.notes')}`;

const tenant = 'old.tenant_id = claims.tenant_id and new.tenant_id = claims.tenant_id';

/** The functions of `audit` that say whether something has changed since it was accepted. */
export async function readHashFunctions(): Promise<string> {
  const file = new URL('../../../../migrations/committed/000036-audit-bypasses.sql', import.meta.url);
  const functions = (await readFile(file, 'utf8')).match(/^create function audit\..*?^ {2}\$\$;$/gms) ?? [];
  return ['create schema audit', ...functions].join(';\n');
}

/** A database with nothing but the functions that note acceptances, and a prover. */
export async function startRefuting() {
  const name = `refuted_${randomUUID().replaceAll('-', '')}`;
  await asAdministrator(
    `create database ${name} template template0`,
    `revoke temporary on database ${name} from public`,
  );
  const database = openTestDatabase(name);
  await database.owner.query(await readHashFunctions());
  const prover = await openProver();

  /** Does work over a connection of its own, which keeps nothing. */
  async function after<Result>(schema: string, work: (client: ClientBase) => Promise<Result>): Promise<Result> {
    const client = new Client({ connectionString: database.ownerUrl });
    await client.connect();
    try {
      await client.query(`begin; set local jit = off; ${base}; ${schema}`);
      return await work(client);
    } finally {
      await client.query('rollback');
      await client.end();
    }
  }

  const judge = (client: ClientBase, { shared = [], column }: Refuted | Twin, accepted: Options['accepted'] = []) => {
    const invariants = shared.map((relation) => ({ name: 'tenant', relation, expression: 'true' }));
    const options: Options = {
      client,
      roles: ['client'],
      claims: [{ name: 'tenant_id', setting: 'app.tenant_id', type: 'int4' }],
      invariants: [{ name: 'tenant', expression: tenant, ...(column && { columns: [column] }) }, ...invariants],
      accepted,
      assumptions: { ignoredSchemas: '^audit$' },
    };
    return prove(options, prover);
  };

  const version = async () => {
    const { rows } = await database.owner.query("select current_setting('server_version_num')::int / 10000 as major");
    return Number(rows[0].major);
  };

  const stop = async () => {
    await prover.close();
    await database.drop();
  };
  return { after, judge, version, stop };
}

/** Accepts what is open as this service does, with a hash. The function that it resolves to looks what has changed since. */
export async function acceptOpen(client: ClientBase, judgements: readonly Judgement[]) {
  const goals = judgements
    .filter(isOpen)
    .map(({ invariant, relation, command, role }) => ({ invariant, relation, command, role }));
  const accepted = await readHashes(client, goals);

  return async (): Promise<Acceptance[]> => {
    const present = await readHashes(client, goals);
    return goals.map((goal, index) => ({
      ...goal,
      reason: 'It was read.',
      hasChanged: (accepted[index] ?? null) === null || accepted[index] !== present[index],
    }));
  };
}

async function readHashes(client: ClientBase, goals: readonly Goal[]): Promise<readonly (string | null)[]> {
  const objects = goals.map(({ invariant, relation, command }) =>
    invariant === 'definer' ? relation : `${invariant}: ${command} on ${relation}`,
  );
  const { rows } = await client.query(
    `select array(
       select audit.hash_of(object, who) from unnest($1::text[], $2::text[]) with ordinality as goal (object, who, place) order by place
     ) as hashes`,
    [objects, goals.map(({ role }) => role)],
  );
  return rows[0].hashes;
}

export type Attack = { isViolation: boolean; answers: readonly string[] };

/** Sends what a client of tenant 1 sends, and looks for rows of tenant 2 in its answers and in the tables. */
export async function attack(client: ClientBase, { earlier = [], client: statements }: Refuted): Promise<Attack> {
  await send(client, 2, earlier);
  const before = await rowsOfTenant2(client);
  const answers = await send(client, 1, [statements].flat());
  const changes = (await rowsOfTenant2(client)) !== before;

  return { isViolation: changes || answers.some((answer) => /"tenant_id":2\b|\bof 2\b/.test(answer)), answers };
}

async function send(client: ClientBase, tenantId: number, statements: readonly string[]): Promise<string[]> {
  await client.query(`set local app.tenant_id = '${tenantId}'; set local session authorization client`);
  const answers = [];
  for (const statement of statements) {
    await client.query('savepoint statement');
    try {
      const result = await client.query(statement);
      answers.push(JSON.stringify([result].flat().flatMap(({ rows }) => rows)));
    } catch (error) {
      await client.query('rollback to savepoint statement');
      answers.push(String(error));
    }
  }
  await client.query('reset session authorization');
  return answers;
}

/** Of all tables, as their owner sees them. */
async function rowsOfTenant2(client: ClientBase): Promise<string> {
  await client.query('reset search_path');
  const { rows: tables } = await client.query(`
    select a.attrelid::regclass::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attname = 'tenant_id' and c.relkind = 'r' and c.relpersistence <> 't' and c.oid >= 16384 order by 1`);
  const all = [];
  for (const { name } of tables) {
    const { rows } = await client.query(
      `select to_jsonb(t)::text as row from only ${name} t where tenant_id::text = '2' order by 1`,
    );
    all.push(name, ...rows.map(({ row }) => row));
  }
  return all.join('\n');
}
