import type { Pool } from 'pg';
import { makePgService } from 'postgraphile/adaptors/pg';
import { createPreset } from '../../../../src/graphql/schema/preset.ts';

export type FromRequest = {
  readonly pgSettings: (context: Partial<Grafast.RequestContext>) => Record<string, string>;
  readonly context: (context: Partial<Grafast.RequestContext>) => Partial<Grafast.Context>;
};

/** The service's schema, so that the documents mean the same, without the plugins that make it faster or limit it. */
export function createStockPreset(pool: Pool, { pgSettings, context }: FromRequest): GraphileConfig.Preset {
  const { plugins = [], ...preset } = createPreset(pool, { isEnabled: false });
  return {
    ...preset,
    plugins: [...plugins.filter(({ name }) => !leftOut.has(name)), StringOutputPlugin],
    pgServices: [makePgService({ pool, schemas: ['app_public'], pgSettings })],
    grafast: { context, explain: false },
    grafserv: { graphqlPath: '/graphql', graphiql: false, outputDataAsString: true },
  };
}

/** They limit and watch what is executed. */
const leftOut = new Set(['RowLimitPlugin', 'StatementCountPlugin', 'ConstraintRulesPlugin']);

/** The setting `outputDataAsString` of grafserv reaches Grafast only so: the data are not parsed to be written again. */
const StringOutputPlugin: GraphileConfig.Plugin = {
  name: 'StringOutputPlugin',
  grafast: {
    middleware: {
      prepareArgs(next, { args }) {
        args.outputDataAsString = true;
        return next();
      },
    },
  },
};
