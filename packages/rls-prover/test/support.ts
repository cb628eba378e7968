import { randomUUID } from 'node:crypto';
import { type ClientBase, escapeIdentifier } from 'pg';
import { type Examples, isOpen, type Judgement, type Options } from 'rls-prover';
import { asAdministrator, openTestDatabase } from '../../../test/support/database.ts';
import { readHashFunctions } from './refuted/support.ts';

/**
 * Tenants whose members write notes, in an otherwise empty database, and a prover.
 *
 * @param rename gives what statements and invariants name other names
 * @param prefix of the role of clients
 * @param load the prover, or a copy of it with a fault
 */
export async function startProving({
  rename = (sql: string) => sql,
  prefix = 'member_',
  load = () => import('rls-prover'),
} = {}) {
  const id = randomUUID().replaceAll('-', '');
  await asAdministrator(`create database prover_${id} template template0`);
  await asAdministrator(`revoke temporary on database prover_${id} from public`);
  const database = openTestDatabase(`prover_${id}`);
  await database.owner.query(await readHashFunctions());
  const { openProver, prove } = await load();
  const prover = await openProver();
  // Roles are the cluster's.
  const member = `${prefix}${id.slice(0, 8)}`;
  const inSql = (statements: string) => rename(statements).replaceAll(/\bmember\b/g, escapeIdentifier(member));
  const options: Omit<Options, 'client'> = {
    roles: [member],
    assumptions: { ignoredSchemas: '^audit$' },
    claims: [
      { name: 'tenant_id', setting: 'app.tenant_id', type: 'uuid' },
      { name: 'user_id', setting: 'app.user_id', type: 'uuid' },
    ],
    invariants: [
      { name: 'tenant', expression: 'old.tenant_id = claims.tenant_id and new.tenant_id = claims.tenant_id' },
      {
        ...{ name: 'author', relation: rename('app.notes') },
        expression: rename('old.author_id = claims.user_id and new.author_id = claims.user_id'),
      },
    ],
    examples: {
      ...examples,
      insert: (client) =>
        examples.insert({ query: (statement: string) => client.query(rename(statement)) } as ClientBase),
    },
  };

  /** Runs statements, in which `member` is the role, in a transaction that is undone. */
  async function after<Result>(statements: string, work: (client: ClientBase) => Promise<Result>): Promise<Result> {
    const client = await database.owner.connect();
    try {
      await client.query('begin; set local jit = off');
      await client.query(inSql(`${schema}; ${statements}`));
      return await work(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  const judgeAfter = (statements = '', changes: Partial<Options> = {}): Promise<Judgement[]> =>
    after(statements, (client) => prove({ ...options, client, ...changes }, prover));

  const stop = async () => {
    await prover.close();
    await database.drop();
  };
  return { member, options, prover, prove, after, judgeAfter, stop };
}

/** The judgements that are neither proven nor accepted, as `invariant: command on relation: verdict`. */
export const openOf = (judgements: readonly Judgement[]): string[] =>
  judgements
    .filter(isOpen)
    .map(({ invariant, command, relation, verdict }) => `${invariant}: ${command} on ${relation}: ${verdict}`);

export const ofTenant = 'tenant_id = (select app.tenant_id())';

const schema = `
  create role member nologin;
  create schema app;
  create function app.tenant_id() returns uuid language sql stable
    as $$ select nullif(current_setting('app.tenant_id', true), '')::uuid $$;
  create function app.user_id() returns uuid language sql stable
    as $$ select nullif(current_setting('app.user_id', true), '')::uuid $$;
  create table app.tenants (id uuid primary key);
  create table app.users (
    tenant_id uuid not null references app.tenants on delete cascade, id uuid not null, name text not null, primary key (tenant_id, id));
  create table app.notes (
    tenant_id uuid not null, id uuid not null, author_id uuid not null, body text, primary key (tenant_id, id),
    foreign key (tenant_id, author_id) references app.users on delete cascade);
  create table app.secrets (tenant_id uuid not null, user_id uuid not null, hash text not null, primary key (tenant_id, user_id));
  alter table app.tenants enable row level security, force row level security;
  alter table app.users enable row level security, force row level security;
  alter table app.notes enable row level security, force row level security;
  alter table app.secrets enable row level security, force row level security;
  create policy users_of_tenant on app.users for select to member using (${ofTenant});
  create policy own_notes on app.notes for all to member using (${ofTenant} and author_id = (select app.user_id()));
  grant usage on schema app to member;
  grant select on app.users to member;
  grant select, insert, update, delete on app.notes to member`;

const idOf = (letter: string, number: number) => `${letter.repeat(8)}-0000-7000-8000-00000000000${number}`;

/** Two tenants, A and B, with two people each who have written a note. */
const examples: Examples = {
  async insert(client) {
    for (const letter of ['a', 'b']) {
      const tenant = `'${idOf(letter, 0)}'`;
      await client.query(`insert into app.tenants values (${tenant})`);
      for (const id of [1, 2].map((number) => `'${idOf(letter, number)}'`)) {
        await client.query(`insert into app.users values (${tenant}, ${id}, 'A name')`);
        await client.query(`insert into app.notes values (${tenant}, ${id}, ${id}, 'Text of ' || ${id})`);
      }
    }
  },
  rows: 'aaaaaaaa-|bbbbbbbb-',
  principals: [
    { name: 'of A as A1', claims: { tenant_id: idOf('a', 0), user_id: idOf('a', 1) } },
    { name: 'without claims', claims: { tenant_id: '', user_id: '' } },
  ],
  shorten: (value) => value.replace(/^(.)\1{7}-.*(\d)$/, (_, letter, number) => letter.toUpperCase() + number),
};
