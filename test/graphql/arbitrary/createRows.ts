import { createTenant, createUnit, createViewer, type GraphTest, globalId, grantAccess, read } from '../support.ts';

export type ConnectionName = keyof typeof connections;

const unitOrders = ['NAME', 'EXTERNAL_IDENTIFIER', 'PRIMARY_KEY'];

/** Each connection: where it is, whose token may ask for it, and the columns that it can be sorted by. */
export const connections = {
  users: {
    orders: ['FULL_NAME', 'EMAIL', 'EXTERNAL_IDENTIFIER', 'PRIMARY_KEY'],
    wrap: (page: string) => `app { users${page} }`,
  },
  rootUnits: { orders: unitOrders, wrap: (page: string) => `app { rootUnits${page} }` },
  children: {
    orders: unitOrders,
    wrap: (page: string) => `node(id: $parent) { ... on Unit { children${page} } }`,
  },
  accessibleUnits: { orders: unitOrders, wrap: (page: string) => `viewer { accessibleUnits${page} }` },
} as const;

/** The values by which a row is sorted. */
export type Row = {
  readonly name: string;
  /** How its external identifier begins; null for none. */
  readonly external: string | null;
  /** Whether a person was granted the unit itself, beside its parent. */
  readonly isGranted: boolean;
};

export type Page = {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: {
    readonly startCursor: string | null;
    readonly endCursor: string | null;
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
  };
};

/** The rows of one connection, in an organization of their own. Rows are known by their global ids. */
export async function createRows(graph: GraphTest, connection: ConnectionName) {
  const tenant = await createTenant(graph);
  const { owner, organizationId } = tenant;
  const person = connection === 'accessibleUnits' ? await createViewer(tenant) : null;
  const parent = await createUnit(tenant);
  if (person) await grantAccess(tenant, person, parent);
  const fixed = person || connection === 'rootUnits' ? [parent.id] : [];
  const keys = new Map<string, string>();
  const isOfUsers = connection === 'users';
  const [table, name] = isOfUsers ? ['app_public.users', 'full_name'] : ['app_public.units', 'name'];
  let written = 0;
  const toValues = ({
    name,
    external,
  }: Row): readonly [name: string, externalIdentifier: string | null, email: string] => {
    const number = String(++written);
    return [name, external === null ? null : external + number, `${name.codePointAt(0)}${number}@acme.test`];
  };

  return {
    /** All that are there now. */
    ids: () => [...fixed, ...keys.keys()],
    /** The keys of inserted rows. */
    inserted: () => [...keys.keys()],

    /** @returns the new ids */
    async insert(rows: readonly Row[]): Promise<string[]> {
      const values = rows.map(toValues);
      const [last, lastValues] = isOfUsers
        ? ['email', values.map(([, , email]) => email)]
        : ['parent_id', rows.map(() => (connection === 'rootUnits' ? null : parent.uuid))];
      const { rows: created } = await owner.query<{ id: string }>(
        `insert into ${table} (organization_id, ${name}, external_identifier, ${last})
         select $1, * from unnest($2::text[], $3::text[], $4::${isOfUsers ? 'text' : 'uuid'}[]) returning id`,
        [organizationId, values.map(([name]) => name), values.map(([, identifier]) => identifier), lastValues],
      );
      const ids = created.map(({ id }) => globalId(isOfUsers ? 'User' : 'Unit', id));
      for (const [index, { id }] of created.entries()) {
        keys.set(ids[index] ?? '', id);
        if (person && rows[index]?.isGranted)
          await grantAccess(tenant, person, { uuid: id, id: ids[index] ?? '', name: '' });
      }
      return ids;
    },

    async remove(id: string): Promise<void> {
      await owner.query(`delete from ${table} where organization_id = $1 and id = $2`, [organizationId, keys.get(id)]);
      keys.delete(id);
    },

    /** Gives the row other values. */
    async change(id: string, row: Row): Promise<void> {
      const [newName, externalIdentifier, email] = toValues(row);
      await owner.query(
        `update ${table} set ${name} = $3, external_identifier = $4 ${isOfUsers ? ', email = $5' : ''}
         where organization_id = $1 and id = $2`,
        [organizationId, keys.get(id), newName, externalIdentifier, ...(isOfUsers ? [email] : [])],
      );
    },

    async page(values: Record<string, unknown>): Promise<Page> {
      const type = isOfUsers ? 'UserOrderBy' : 'UnitOrderBy';
      const fields = '{ nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }';
      const args = '(first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy)';
      const above = connection === 'children' ? { parent: parent.id } : {};
      const query = `query($first: Int, $last: Int, $after: Cursor, $before: Cursor, $orderBy: [${type}!]
        ${connection === 'children' ? '$parent: ID!' : ''}) { ${connections[connection].wrap(args + fields)} }`;
      const token = person?.token ?? tenant.app;
      const data = await read<Record<string, Record<string, Page>>>(graph, token, query, { ...values, ...above });
      const [page] = Object.values(data).flatMap((field) => Object.values(field));
      if (!page) throw new Error(`There is no page of ${connection}`);
      return page;
    },
  };
}
