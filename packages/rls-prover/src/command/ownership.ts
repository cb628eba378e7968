import type { Column, Reference, Table } from './readTables.ts';

/** The client's identity: an expression of SQL over `claims`, and the table that has a row for each person. */
export type Identity = {
  readonly user: string;
  /** The type of the expression. */
  readonly type: string;
  readonly table: string | null;
  readonly column: string | null;
  /** Functions of the database that return it, with their schemas, such as `auth.uid`. */
  readonly functions: readonly string[];
};

/** A table that says who belongs to what, such as `team_members`. */
export type Membership = { readonly table: Table; readonly group: Reference; readonly person: string };

/**
 * Infers from tables, foreign keys, names and policies what connects a row with a client.
 *
 * These are guesses at what the developer means. They only state invariants, which the prover then proves or refutes.
 */
export class Ownership {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly identity: Identity;

  constructor(tables: readonly Table[], identity: Identity) {
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.identity = identity;
  }

  /** The client's id, as a type. */
  user(type: string): string {
    const { user, type: own } = this.identity;
    return type === own ? user : `(${user})::${type}`;
  }

  /** Whether a table has a row for each person: that of the identity, and profiles with the same key. */
  isOfPeople({ name, primaryKey, foreignKeys }: Table): boolean {
    const { table, column } = this.identity;
    if (name === table) return true;
    return foreignKeys.some(
      ({ columns, references, referenced }) =>
        references === table && referenced[0] === column && columns.length === 1 && String(primaryKey) === columns[0],
    );
  }

  /** The columns that hold the id of the person to whom a row belongs. */
  owners(table: Table): Column[] {
    const { table: people, column: id, type } = this.identity;
    if (table.name === people) return table.columns.filter(({ name }) => name === id);
    const referring = table.foreignKeys.flatMap(({ columns, references, referenced }) => {
      const target = this.#tables.get(references);
      const place = references === people ? referenced.indexOf(id ?? '') : columns.length - 1;
      const column = columns[place];
      return target && this.isOfPeople(target) && column !== undefined ? [column] : [];
    });
    const compared = table.policies.flatMap((policy) => comparedWith(this.identity.functions, policy));
    const named = new Set([...referring, ...compared]);
    if (named.size > 0) return table.columns.filter(({ name }) => named.has(name));
    const isReferring = (name: string) => table.foreignKeys.some(({ columns }) => columns.includes(name));
    return table.columns.filter(
      (column) =>
        ownerNames.test(column.name) &&
        !isReferring(column.name) &&
        (column.type === type || column.type === 'text' || column.type.startsWith('character varying')),
    );
  }

  memberships(): Membership[] {
    return [...this.#tables.values()].flatMap((table) => {
      const [person] = this.owners(table);
      if (!person || !memberNames.test(table.bare)) return [];
      return table.foreignKeys
        .filter(({ references, columns }) => {
          const target = this.#tables.get(references);
          return target && target !== table && !this.isOfPeople(target) && !columns.includes(person.name);
        })
        .slice(0, 1)
        .map((group) => ({ table, group, person: person.name }));
    });
  }

  membershipIn(table: Table): Membership | undefined {
    return this.memberships().find((membership) => membership.table === table);
  }

  /** Whether each row of this table is a group, which has members in another table. */
  isGroup(table: Table): boolean {
    return this.memberships().some(({ group }) => group.references === table.name);
  }

  /** Whether a row may belong to several persons: it is a group, or no column connects it with a person. */
  isShared(table: Table, path: readonly string[] = []): boolean {
    if (this.isGroup(table)) return true;
    if (this.isOfPeople(table) || this.owners(table).length > 0) return false;
    return table.foreignKeys.every(({ references }) => {
      const target = this.#tables.get(references);
      return !target || path.includes(references) || this.isShared(target, [...path, table.name]);
    });
  }

  /**
   * An expression that is true of a row that something connects with the client: a column with their id, a membership, or a row to which it refers.
   * Null for a table that nothing connects with anybody.
   */
  connection(table: Table, row: string, path: readonly string[] = []): string | null {
    const own = this.owners(table).map(({ name, type }) => `${row}.${quoted(name)} = ${this.user(type)}`);
    const above = [...path, table.name];
    const member = (group: Reference, values: readonly string[], membership: Membership) => {
      const alias = `m${above.length}`;
      const pairs = membership.group.columns.map((column, index) => {
        const place = group.referenced.indexOf(membership.group.referenced[index] ?? '');
        return `${alias}.${quoted(column)} = ${row}.${quoted(values[place] ?? '')}`;
      });
      const { type = '' } = membership.table.columns.find(({ name }) => name === membership.person) ?? {};
      return `exists (select from ${membership.table.name} ${alias} where ${pairs.join(' and ')} and ${alias}.${quoted(membership.person)} = ${this.user(type)})`;
    };
    const members = this.memberships().flatMap((membership) => {
      const { references, referenced } = membership.group;
      if (references === table.name) return [member(membership.group, referenced, membership)];
      return table.foreignKeys
        .filter((key) => key.references === references)
        .map((key) => member(key, key.columns, membership));
    });
    const parents = path.length > 1 ? [] : table.foreignKeys.flatMap((key) => this.#through(key, row, above));
    const parts = [...new Set([...own, ...members, ...parents])];
    return parts.length > 0 ? parts.map((part) => (parts.length > 1 ? `(${part})` : part)).join(' or ') : null;
  }

  /** That the client owns the row to which a foreign key refers; null where such a row has no owner. */
  ownerOfReferred({ columns, references, referenced }: Reference, row: string): string | null {
    const target = this.#tables.get(references);
    const owned = (target ? this.owners(target) : []).map(({ name, type }) => `g.${quoted(name)} = ${this.user(type)}`);
    if (owned.length === 0) return null;
    const pairs = columns.map((column, index) => `g.${quoted(referenced[index] ?? '')} = ${row}.${quoted(column)}`);
    return `exists (select from ${references} g where ${pairs.join(' and ')} and (${owned.join(' or ')}))`;
  }

  /** That something connects the row to which a foreign key refers with the client. */
  #through({ columns, references, referenced }: Reference, row: string, path: readonly string[]): string[] {
    const target = this.#tables.get(references);
    if (!target || path.includes(references) || this.isOfPeople(target)) return [];
    const alias = `p${path.length}`;
    const condition = this.isGroup(target)
      ? this.owners(target)
          .map(({ name, type }) => `${alias}.${quoted(name)} = ${this.user(type)}`)
          .join(' or ')
      : this.connection(target, alias, path);
    if (!condition) return [];
    const pairs = columns.map(
      (column, index) => `${alias}.${quoted(referenced[index] ?? '')} = ${row}.${quoted(column)}`,
    );
    return [`exists (select from ${references} ${alias} where ${pairs.join(' and ')} and (${condition}))`];
  }
}

/** The columns of its own table that a policy compares with the client's id. Those of others are printed with their tables. */
function comparedWith(functions: readonly string[], policy: string): string[] {
  if (functions.length === 0) return [];
  const call = `(?:\\( ?SELECT )?(?:${functions.map((name) => name.replaceAll('.', '\\.')).join('|')})\\(\\)(?: AS \\w+\\))?`;
  const pattern = new RegExp(`(?<![.\\w"])(\\w+) = ${call}|${call} = (\\w+)(?![.\\w"(])`, 'g');
  return [...policy.matchAll(pattern)].flatMap(([, left, right]) => left ?? right ?? []);
}

export const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

const ownerNames =
  /^((user|owner|author|creator|profile|person|account|customer|member|sender|employee)_(uu)?id|owner|author|created_by|user)$/;
const memberNames = /member|participant|staff|collaborator|_users?$|^users?_|employee|enrol|roster/;
