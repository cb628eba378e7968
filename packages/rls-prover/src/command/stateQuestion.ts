import type { ClientBase } from 'pg';
import type { Examples, Invariant, Options } from '../interface.ts';
import { presets } from '../presets/index.ts';
import type { Found, Preset } from '../presets/preset.ts';
import { readCatalogue } from '../readCatalogue.ts';
import { undone } from '../savepoints.ts';
import { stateDefaults } from './defaultInvariants.ts';
import { findIdentity } from './findIdentity.ts';
import { type InventedRow, inventRows, keyOf } from './inventRows.ts';
import { Ownership, quoted } from './ownership.ts';
import { invented, type Person, principals, shorten } from './people.ts';
import { readAcceptances, readInvariants } from './readFiles.ts';
import { readFound } from './readFound.ts';
import { findHarmless, findPreset, findRoles, findSchemas } from './readServer.ts';
import { readTables, type Table } from './readTables.ts';
import { type Settings, UsageError } from './usage.ts';

/** The question to the prover about a database that it has never seen. */
export type Question = {
  readonly preset: Preset;
  readonly options: Options & { invariants: readonly Invariant[]; roles: readonly string[] };
  readonly schemas: readonly string[];
  readonly isExposed: (name: string) => boolean;
  /** Whether an object is not the application's, but the platform's or a harmless extension's. */
  readonly isPlatforms: (name: string) => boolean;
  readonly rows: readonly InventedRow[];
  /** Tables for which no row could be invented. */
  readonly empty: readonly string[];
};

/** States it from the arguments and, where they say nothing, from the preset and the catalogue. @throws {UsageError} */
export async function stateQuestion(client: ClientBase, settings: Settings): Promise<Question> {
  await client.query('set local search_path = pg_catalog, pg_temp; set local jit = off');
  const server = await findServer(client, settings);
  const { preset, found, texts, claims, stated, roles, signedIn, anonymous, schemas } = server;
  const isExposed = (name: string) => schemas.some((schema) => name.startsWith(`${quoted(schema)}.`));
  const tables = await readTables(client, preset.platform);
  if (!settings.isReadOnly) checkSize(tables.filter(({ name }) => isExposed(name)));
  const ownership = new Ownership(tables, findIdentity(tables, server.user, found.userFunctions));
  const assumptions = { claims: [...stated.assumed, ...settings.assume], ignoredSchemas: withoutAsked(preset) };
  const catalogue = await readCatalogue({ client, roles, claims, invariants: [], assumptions });
  if (![...catalogue.relations.keys()].some(isExposed))
    throw new UsageError(`there is no table or view in ${schemas.join(', ')}: give other --schemas`);
  const invariants = settings.invariants
    ? await readInvariants(settings.invariants)
    : stateDefaults(tables, catalogue, ownership, { signedIn, anonymous }, stated.tenant);
  const rows = settings.isReadOnly ? [] : await undone(client, () => inventRows(client, tables, ownership, texts));
  const examples = examplesOf(rows, preset, found, { signedIn, anonymous }, ownership, settings);
  const [platform, harmless] = [new RegExp(preset.platform), await findHarmless(client)];
  return {
    ...{ preset, schemas, isExposed, rows },
    options: {
      ...{ client, roles, claims, invariants, assumptions },
      ...(settings.accept ? { accepted: await readAcceptances(settings.accept) } : {}),
      ...(settings.isReadOnly ? {} : { examples }),
    },
    empty: settings.isReadOnly
      ? []
      : tables.map(({ name }) => name).filter((name) => isExposed(name) && !rows.some(({ table }) => table === name)),
    isPlatforms: (name) => harmless.has(name) || platform.test(/^"?([^".]+)/.exec(name)?.[1] ?? ''),
  };
}

/** The server in front of the database: its preset, roles, schemas and claims. */
async function findServer(client: ClientBase, settings: Settings) {
  const { texts, ...names } = await readFound(client);
  const preset = presets.get(settings.preset ?? (await findPreset(client, names))) as Preset;
  const roles = settings.roles ?? preset.roles ?? (await findRoles(client));
  await checkRoles(client, roles, settings.isReadOnly);
  const anonymous = roles.filter((role) => preset.anonymous.test(role));
  const schemas = settings.schemas ?? preset.schemas ?? (await findSchemas(client, roles, preset.platform));
  if (schemas.length === 0) throw new UsageError('no schema has tables that these roles may use: give --schemas');
  const found: Found = { ...names, anonymousRoles: anonymous };
  const stated = preset.stateClaims(found);
  const isReplaced = (name: string) => settings.claims.some((claim) => claim.name === name);
  const claims = [...stated.claims.filter(({ name }) => !isReplaced(name)), ...settings.claims];
  const user = settings.user ?? stated.user ?? (claims[0] ? `claims.${claims[0].name}` : null);
  if (user === null)
    throw new UsageError(
      'nothing in the database says who a client is: give --claims, such as user_id=app.user_id:uuid',
    );
  const signedIn = roles.filter((role) => !anonymous.includes(role));
  return { preset, found, texts, claims, stated, user, roles, signedIn, anonymous, schemas };
}

function checkSize(tables: readonly Table[]): void {
  const held = tables.reduce((sum, { rows }) => sum + rows, 0);
  if (held > maxRows)
    throw new UsageError(
      `the tables hold about ${held} rows, which the tries would lock: use a copy of the schema (pg_dump --schema-only), or --read-only`,
    );
}

/** The platform's schemas but those whose functions and tables policies ask. */
function withoutAsked({ platform, asked }: Preset): string {
  const kept = asked.source.replace(/^\^\(?|\)?\$$/g, '');
  return kept ? platform.replace(new RegExp(`\\b(${kept})\\|`, 'g'), '') : platform;
}

async function checkRoles(client: ClientBase, roles: readonly string[], isReadOnly: boolean): Promise<void> {
  if (roles.length === 0) throw new UsageError('no role of clients was found: give --roles');
  const { rows } = await client.query<{ name: string; is_there: boolean; may: boolean }>(
    `select name, r.oid is not null as is_there, coalesce(pg_has_role(current_user, r.oid, 'member'), false) as may
     from unnest($1::text[]) as name left join pg_roles r on r.rolname = name`,
    [roles],
  );
  const missing = rows.filter((role) => !role.is_there).map(({ name }) => name);
  if (missing.length > 0)
    throw new UsageError(`there is no role ${missing.join(', ')}: give --roles or another --preset`);
  const foreign = rows.filter(({ may }) => !may).map(({ name }) => name);
  if (foreign.length > 0 && !isReadOnly)
    throw new UsageError(
      `this login may not become ${foreign.join(', ')}: connect as a superuser or grant it the role, or use --read-only`,
    );
}

/** Tries update and delete rows as clients, and so lock what those may change until the rollback. */
const maxRows = 10_000;

/** A stranger waits for this long at most. */
const maxSeconds = 300;

function examplesOf(
  rows: readonly InventedRow[],
  preset: Preset,
  found: Found,
  roles: { signedIn: readonly string[]; anonymous: readonly string[] },
  ownership: Ownership,
  settings: Settings,
): Examples {
  const nobody = (role: string) => ({ ...given(() => ''), ...preset.claimsOf(role, null, found) });
  const given = (value: (name: string) => string | undefined) =>
    Object.fromEntries(settings.claims.map(({ name }) => [name, value(name) ?? '']));
  return {
    async insert({ query }) {
      for (const { statements } of rows) for (const statement of statements) await query(statement);
    },
    rows: invented,
    maxSeconds,
    shorten,
    principals: [
      ...roles.signedIn.flatMap((role) =>
        principals.map((person) => {
          const value = (name: string) => claimValue(name, person, rows, ownership);
          const claims = { ...given(value), ...preset.claimsOf(role, value, found) };
          return { name: `as ${person.name}`, claims, roles: [role] };
        }),
      ),
      ...[...roles.anonymous, ...(roles.anonymous.length > 0 ? [] : roles.signedIn)].map((role) => ({
        ...{ name: 'without a token', claims: nobody(role), roles: [role] },
      })),
    ],
  };
}

/** The value of a claim for a person: their id, the key of a row of the table of this name, or the value of a column of this name. */
function claimValue(
  name: string,
  person: Person,
  rows: readonly InventedRow[],
  { identity }: Ownership,
): string | undefined {
  const own = rows.filter((one) => one.person === person);
  const idOf = (table: string | null) => own.find((one) => one.table === table)?.row;
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined);
  const id = text(identity.column ? idOf(identity.table)?.[identity.column] : undefined);
  if (name === '' || name === 'sub' || name === 'user_id' || name === 'uid') return id;
  const key = keyOf(rows, name, person);
  if (key !== undefined) return key;
  return own.map(({ row }) => text(row[name])).find((value) => value !== undefined);
}
