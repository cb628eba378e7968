import { insufficientPrivilege, type Outcome, type Statement } from './attempts.ts';
import type { Principal } from './principals.ts';
import type { Row, Table } from './table.ts';
import { tables } from './tables.ts';
import type { World } from './world.ts';

/** The circumstances in which a command is tried. */
export type Circumstances = {
  world: World;
  principal: Principal;
  /** The organization of the row: the principal's own, another, or one that does not exist. */
  organization: string;
  /** Which person or grant of it, existing or not. */
  number: number;
  fresh: boolean;
  /** Which row, of whatever organization. */
  row: number;
};

/** A statement, and what the oracle says of it. */
export type Command = Statement & { expected: Outcome };

/** Every command on a table that anybody could try. */
export const commands: Record<string, (name: string, table: Table, on: Circumstances) => Command | null> = {
  select: (name, table, on) => ({
    text: `select ${label(table)} from ${name}`,
    values: [],
    reads: true,
    expected: read(table, on, (rows) => rows.map(labelOf)),
  }),
  count: (name, table, on) => ({
    text: `select count(*)::text from ${name}`,
    values: [],
    reads: true,
    expected: read(table, on, (rows) => [String(rows.length)]),
  }),
  selectOne: (name, table, on) => ({
    text: `select ${label(table)} from ${name} where ${label(table)} = $1`,
    values: [aRow(table, on)],
    expected: read(table, on, (rows) => rows.map(labelOf).filter((found) => found === aRow(table, on))),
  }),
  lock: (name, table, on) => ({
    text: `select ${label(table)} from ${name} for update`,
    values: [],
    expected: rightsOf(table, on).update ? read(table, on, (rows) => rows.map(labelOf)) : refused,
  }),
  update: (name, table, on) => ({
    text: `update ${name} set ${assignment(name)}`,
    values: [],
    expected: rightsOf(table, on).update ? read(table, on, (rows) => rows.length) : refused,
  }),
  updateReturning: (name, table, on) => ({
    text: `update ${name} set ${assignment(name)} returning ${label(table)}`,
    values: [],
    expected: rightsOf(table, on).update ? read(table, on, (rows) => rows.map(labelOf)) : refused,
  }),
  updateOne: (name, table, on) => ({
    text: `update ${name} set ${assignment(name)} where ${label(table)} = $1`,
    values: [aRow(table, on)],
    expected: rightsOf(table, on).update
      ? read(table, on, (rows) => rows.filter((row) => labelOf(row) === aRow(table, on)).length)
      : refused,
  }),
  move: (name, table, on) => {
    if (table.organization !== undefined) return null;
    const moved = read(table, on, (rows) => rows.length);
    const stays = moved === 0 || on.organization === on.principal.claims.organization;
    return {
      text: `update ${name} set organization_id = $1`,
      values: [on.organization],
      expected: rightsOf(table, on).movable && stays ? moved : refused,
    };
  },
  delete: (name, table, on) => ({
    text: `delete from ${name}`,
    values: [],
    expected: rightsOf(table, on).delete ? read(table, on, (rows) => rows.length) : refused,
  }),
  deleteReturning: (name, table, on) => ({
    text: `delete from ${name} returning ${label(table)}`,
    values: [],
    expected: rightsOf(table, on).delete ? read(table, on, (rows) => rows.map(labelOf)) : refused,
  }),
  deleteOne: (name, table, on) => ({
    text: `delete from ${name} where ${label(table)} = $1`,
    values: [aRow(table, on)],
    expected: deletedOne(table, on),
  }),
  merge: (name, table, on) => ({
    text: `merge into ${name} using (values ('')) as source (blank) on ${label(table)} <> blank when matched then delete`,
    values: [],
    expected: rightsOf(table, on).delete ? read(table, on, (rows) => rows.length) : refused,
  }),
  insert: (name, table, on) => inserting(name, table, on, '', 'unique violation'),
  insertUnlessThere: (name, table, on) =>
    // A constraint that is asked at the end of a statement arbitrates no conflict: then another one is named.
    inserting(
      name,
      table,
      on,
      table.view ? ' on conflict do nothing' : ` on conflict on constraint ${arbiterOf(name, table)} do nothing`,
      0,
    ),
  insertOrUpdate: (name, table, on) => {
    if (table.view) return null;
    const constraint = arbiterOf(name, table);
    const rights = rightsOf(table, on);
    const command = inserting(
      name,
      table,
      on,
      ` on conflict on constraint ${constraint} do update set ${assignment(name)}`,
      1,
    );
    return rights.update ? command : { ...command, expected: refused };
  },
  truncate: (name, table) => (table.view ? null : { text: `truncate ${name}`, values: [], expected: refused }),
};

const arbiterOf = (name: string, table: Table) => insertInto(table)?.key ?? `${name.replace(/.*\./, '')}_pkey`;

const refused = { refused: insufficientPrivilege };

/** The rows that the principal sees of a table, or that it may not look. */
export function read<Result>(
  table: Table,
  { world, principal }: Pick<Circumstances, 'world' | 'principal'>,
  result: (rows: Row[]) => Result,
): Result | typeof refused {
  const sees = table.sees[principal.role];
  return sees ? result(table.rows(world).filter((row) => sees(row, principal.claims, world))) : refused;
}

function deletedOne(table: Table, on: Circumstances): Outcome {
  const { delete: mayDelete, keeps } = rightsOf(table, on);
  if (!mayDelete) return refused;
  return read<Outcome>(table, on, (rows) => {
    const [row, ...others] = rows.filter((found) => labelOf(found) === aRow(table, on));
    if (row && keeps?.(row, on.world)) return { refused: '23503' };
    return row ? others.length + 1 : 0;
  });
}

function inserting(
  name: string,
  table: Table,
  on: Circumstances,
  onConflict: string,
  whenThere: number | 'unique violation',
): Command {
  // A role that may not insert tries the insert of a role that may.
  const insert = insertInto(table);
  if (!insert) return { text: `insert into ${name} default values${onConflict}`, values: [], expected: refused };
  const { world, principal, organization, number, fresh } = on;
  const expected = (): Outcome => {
    const { refusedWithoutClaims } = insert;
    if (rightsOf(table, on).insert && refusedWithoutClaims && !principal.claims.organization)
      return { refused: refusedWithoutClaims };
    const foreign = table.organization === undefined && organization !== principal.claims.organization;
    if (!rightsOf(table, on).insert || foreign || insert.refuses?.(principal.claims)) return refused;
    if ((!fresh || insert.isPair) && insert.exists(world, organization, number, principal))
      return whenThere === 'unique violation' ? { refused: '23505' } : whenThere;
    return insert.complete(world, organization, number, principal) ? 1 : { refused: '23503' };
  };
  return {
    text: `insert into ${insert.into}${onConflict}`,
    values: [organization, ...insert.values(world, organization, number, fresh)],
    expected: expected(),
  };
}

const rightsOf = (table: Table, { principal }: Circumstances) => table.changes?.[principal.role] ?? {};
const insertInto = (table: Table) => Object.values(table.changes ?? {}).find(({ insert }) => insert)?.insert;

/** An assignment that some role may make, or else one to a column that no role may set. */
function assignment(name: string): string {
  const table = tables[name];
  const allowed = Object.values(table?.changes ?? {}).find(({ update }) => update)?.update;
  const [column] = (table?.key ?? '').split(' ');
  return allowed ?? `${column} = null`;
}

/** A row's name as an expression. */
export const label = ({ organization = 'organization_id', key }: Table) => `format('%s %s', ${organization}, ${key})`;
export const labelOf = ({ organization, key }: Row) => `${organization} ${key}`;

/** The name of some row, whosever it is. */
function aRow(table: Table, { world, row }: Circumstances): string {
  const rows = table.rows(world).map(labelOf);
  return rows[row % rows.length] ?? '';
}
