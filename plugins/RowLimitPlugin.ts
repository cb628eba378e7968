import type { PgSelectQueryBuilder } from 'postgraphile/@dataplan/pg';
import { type ConnectionStep, context, lambda, list, type Step } from 'postgraphile/grafast';
import { sql } from 'postgraphile/pg-sql2';
import { selectOf } from './internals.ts';

/**
 * Row limit against the multiplication of nested pages, counted twice.
 * In PostgreSQL each row of a connection calls app_hidden.count_row, which ends the statement. Here each page is counted before its rows
 * are used, since an operation may select the same few rows again and again.
 */
export const RowLimitPlugin: GraphileConfig.Plugin = {
  name: 'RowLimitPlugin',
  after: ['ConnectionArgumentsPlugin'],

  schema: {
    hooks: {
      GraphQLObjectType_fields_field(field, _build, { scope }) {
        const { plan } = field;
        if (scope.isPgFieldConnection && plan) {
          return {
            ...field,
            plan($parent, args, info) {
              const $connection = plan($parent, args, info);
              countInPostgres($connection);
              return $connection;
            },
          };
        }
        const { fieldName } = scope;
        if (scope.isConnectionType && (fieldName === 'nodes' || fieldName === 'edges')) {
          return {
            ...field,
            plan($connection: ConnectionStep<unknown>) {
              countBeforeUse($connection);
              return $connection.get(fieldName);
            },
          };
        }
        return field;
      },
    },
  },
};

function countInPostgres($connection: Step): void {
  selectOf($connection).apply(lambda(context().get('countRows'), callingCountRow, true));
}

const callingCountRow = (countRows: unknown) => (query: PgSelectQueryBuilder) => {
  if (countRows && query.mode === 'normal') query.selectAndReturnIndex(sql`app_hidden.count_row()`);
};

function countBeforeUse($connection: ConnectionStep<unknown>): void {
  $connection.addValidation(() => lambda(list([context().get('countRows'), selectOf($connection).items()]), countPage));
}

const countPage = ([countRows, rows]: readonly [Grafast.Context['countRows'], readonly unknown[]]) =>
  countRows?.(rows.length);
countPage.isSync = true;
