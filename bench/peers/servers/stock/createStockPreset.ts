import { PgSimplifyInflectionPreset } from '@graphile/simplify-inflection';
import type { Pool } from 'pg';
import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PostGraphileRelayPreset } from 'postgraphile/presets/relay';
import { AccessibleUnitsPlugin } from '../../../../plugins/AccessibleUnitsPlugin.ts';
import { ColumnFiltersPlugin } from '../../../../plugins/ColumnFiltersPlugin.ts';
import { ConnectionArgumentsPlugin } from '../../../../plugins/ConnectionArgumentsPlugin.ts';
import { ConnectionsPlugin } from '../../../../plugins/ConnectionsPlugin.ts';
import { FunctionMutationsPlugin } from '../../../../plugins/functions/FunctionMutationsPlugin.ts';
import { SetofPlugin } from '../../../../plugins/functions/SetofPlugin.ts';
import { NodeIdPlugin, nodeIdCodecName } from '../../../../plugins/NodeIdPlugin.ts';
import { OrdersPlugin } from '../../../../plugins/OrdersPlugin.ts';
import { RootFieldsPlugin } from '../../../../plugins/RootFieldsPlugin.ts';
import { TenantPlugin } from '../../../../plugins/TenantPlugin.ts';
import { UserMutationsPlugin } from '../../../../plugins/UserMutationsPlugin.ts';

export type FromRequest = {
  readonly pgSettings: (context: Partial<Grafast.RequestContext>) => Record<string, string>;
  readonly context: (context: Partial<Grafast.RequestContext>) => Partial<Grafast.Context>;
};

/** Of the service's plugins those that make the measured documents mean the same, and nothing that makes them faster or limits them. */
export function createStockPreset(pool: Pool, { pgSettings, context }: FromRequest): GraphileConfig.Preset {
  return {
    extends: [PostGraphileAmberPreset, PostGraphileRelayPreset, PgSimplifyInflectionPreset],
    plugins: [
      TenantPlugin,
      OrdersPlugin,
      SetofPlugin,
      NodeIdPlugin,
      RootFieldsPlugin,
      ConnectionsPlugin,
      ConnectionArgumentsPlugin,
      ColumnFiltersPlugin,
      AccessibleUnitsPlugin,
      UserMutationsPlugin,
      FunctionMutationsPlugin,
      StringOutputPlugin,
    ],
    disablePlugins: ['QueryQueryPlugin', 'RegisterQueryNodePlugin', 'NodeAccessorPlugin', 'PgRBACPlugin'],
    pgServices: [makePgService({ pool, schemas: ['app_public'], pgSettings })],
    schema: {
      defaultBehavior:
        '-query:resource:list -query:resource:connection -query:resource:single -insert -update -delete -filter -mutationField -queryField',
      defaultNodeIdCodec: nodeIdCodecName,
      pgForbidSetofFunctionsToReturnNull: true,
    },
    grafast: { context, explain: false },
    grafserv: { graphqlPath: '/graphql', graphiql: false, outputDataAsString: true },
  };
}

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
