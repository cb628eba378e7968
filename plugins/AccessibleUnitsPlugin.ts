import {
  type PgSelectQueryBuilder,
  type PgSelectSingleStep,
  sqlValueWithCodec,
  TYPES,
} from 'postgraphile/@dataplan/pg';
import { lambda, list } from 'postgraphile/grafast';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { wrapPlans } from 'postgraphile/utils';
import { defaultPageSize } from './ConnectionArgumentsPlugin.ts';
import { selectOf } from './internals.ts';

/**
 * Keyset pagination of `User.accessibleUnits`, at a cost that does not grow with the grants.
 * In the default order, forwards and unfiltered, the candidates come from app_hidden.first_accessible_unit_ids. It walks the key of each
 * granted subtree and stops. It only drives the query; row-level security still decides about every row.
 */
export const AccessibleUnitsPlugin: GraphileConfig.Plugin = wrapPlans({
  User: {
    accessibleUnits(plan, $user, args) {
      const $connection = plan();
      const $units = selectOf($connection);
      const userId = $units.placeholder(($user as PgSelectSingleStep).get('id') as never);
      const $arguments = list(
        ['first', 'after', 'orderBy', 'last', 'before', 'ids', 'externalIdentifiers'].map((name) => args.getRaw(name)),
      );
      $units.apply(lambda($arguments, drivingByCandidates(userId), true));
      return $connection;
    },
  },
});

const drivingByCandidates = (userId: SQL) => (values: readonly unknown[]) => (query: PgSelectQueryBuilder) =>
  driveByCandidates(query, userId, values);

function driveByCandidates(
  query: PgSelectQueryBuilder,
  userId: SQL,
  [first, after, orderBy, ...others]: readonly unknown[],
): void {
  const isDefaultOrder = !Array.isArray(orderBy) || orderBy.length === 0 || orderBy[0] === 'PRIMARY_KEY_ASC';
  if (query.mode !== 'normal' || !isDefaultOrder || others.some((argument) => argument != null)) return;

  // One more than the page, to know whether there is a next one.
  const count = sqlValueWithCodec(((first as number | null) ?? defaultPageSize) + 1, TYPES.int);
  const afterId = sqlValueWithCodec(keyOfCursor(after), TYPES.uuid);
  const alias = sql.identifier(Symbol('candidate'));
  query.join({
    type: 'inner',
    from: sql`app_hidden.first_accessible_unit_ids(${userId}, ${count}, ${afterId})`,
    alias,
    attributeNames: sql` (id)`,
    conditions: [sql`${alias}.id = ${query.alias}.id`],
  });
}

/** The key in a cursor of the default order: base64 of `[digest, uuid]`, checked before execution. */
function keyOfCursor(cursor: unknown): string | null {
  return typeof cursor === 'string' ? JSON.parse(Buffer.from(cursor, 'base64').toString())[1] : null;
}
