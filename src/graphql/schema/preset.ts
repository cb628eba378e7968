import { PgSimplifyInflectionPreset } from '@graphile/simplify-inflection';
import { type CompilationOptions, createCompilationPreset } from 'grafast-compile';
import type { Pool } from 'pg';
import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PostGraphileRelayPreset } from 'postgraphile/presets/relay';
import { AccessibleUnitsPlugin } from '../../../plugins/AccessibleUnitsPlugin.ts';
import { ChangeNamingPlugin } from '../../../plugins/ChangeNamingPlugin.ts';
import { ChangesPlugin } from '../../../plugins/ChangesPlugin.ts';
import { CodecNamesPlugin } from '../../../plugins/CodecNamesPlugin.ts';
import { ColumnFiltersPlugin } from '../../../plugins/ColumnFiltersPlugin.ts';
import { ConnectionArgumentsPlugin } from '../../../plugins/ConnectionArgumentsPlugin.ts';
import { ConnectionsPlugin } from '../../../plugins/ConnectionsPlugin.ts';
import { ConstraintRulesPlugin } from '../../../plugins/ConstraintRulesPlugin.ts';
import { EnumValuesPlugin } from '../../../plugins/EnumValuesPlugin.ts';
import { ExternalAuthenticationTokenPlugin } from '../../../plugins/ExternalAuthenticationTokenPlugin.ts';
import { FollowedTypesPlugin } from '../../../plugins/FollowedTypesPlugin.ts';
import { CompositeAttributesPlugin } from '../../../plugins/functions/CompositeAttributesPlugin.ts';
import { CompositeDomainsPlugin } from '../../../plugins/functions/CompositeDomainsPlugin.ts';
import { FunctionArgumentsPlugin } from '../../../plugins/functions/FunctionArgumentsPlugin.ts';
import { FunctionMutationsPlugin } from '../../../plugins/functions/FunctionMutationsPlugin.ts';
import { InputObjectsPlugin } from '../../../plugins/functions/InputObjectsPlugin.ts';
import { SetofPlugin } from '../../../plugins/functions/SetofPlugin.ts';
import { UncallableFunctionsPlugin } from '../../../plugins/functions/UncallableFunctionsPlugin.ts';
import { KeyFiltersPlugin } from '../../../plugins/KeyFiltersPlugin.ts';
import { NodeIdPlugin, nodeIdCodecName } from '../../../plugins/NodeIdPlugin.ts';
import { NodeTypePlugin } from '../../../plugins/NodeTypePlugin.ts';
import { OidPlugin } from '../../../plugins/OidPlugin.ts';
import { OrdersPlugin } from '../../../plugins/OrdersPlugin.ts';
import { RaisedErrorsPlugin } from '../../../plugins/RaisedErrorsPlugin.ts';
import { RootFieldsPlugin } from '../../../plugins/RootFieldsPlugin.ts';
import { RowLimitPlugin } from '../../../plugins/RowLimitPlugin.ts';
import { RowOriginsPlugin } from '../../../plugins/RowOriginsPlugin.ts';
import { ScalarInputPlugin } from '../../../plugins/ScalarInputPlugin.ts';
import { StatementCountPlugin } from '../../../plugins/StatementCountPlugin.ts';
import { TenantPlugin } from '../../../plugins/TenantPlugin.ts';
import { TextFormsPlugin } from '../../../plugins/TextFormsPlugin.ts';
import { TimeInputPlugin } from '../../../plugins/TimeInputPlugin.ts';
import { UnitTreePlugin } from '../../../plugins/UnitTreePlugin.ts';
import { UserMutationsPlugin } from '../../../plugins/UserMutationsPlugin.ts';
import { UsersSyncPlugin } from '../../../plugins/UsersSyncPlugin.ts';
import { VariableNamesPlugin } from '../../../plugins/VariableNamesPlugin.ts';
import { WebhookInputsPlugin, WebhooksPlugin } from '../../../plugins/WebhooksPlugin.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';

/** The PostGraphile preset: what its schema leaves out, and our plugins. `pool` is the authenticator's. */
export function createPreset(pool: Pool, compilation: CompilationOptions): GraphileConfig.Preset {
  return {
    extends: [
      PostGraphileAmberPreset,
      PostGraphileRelayPreset,
      PgSimplifyInflectionPreset,
      createCompilationPreset(compilation),
    ],
    plugins,
    disablePlugins,
    pgServices: [
      makePgService({
        pool,
        schemas: ['app_public'],
        pgSettings: ({ pgSettings }) => pgSettings,
        // The limit is for clients' statements.
        pgSettingsForIntrospection: { statement_timeout: '0' },
      }),
    ],
    schema: {
      // Root fields over all rows and generated mutations: the graph is entered through `viewer`, `app` and `node` only.
      defaultBehavior:
        '-query:resource:list -query:resource:connection -query:resource:single -insert -update -delete -filter -mutationField -queryField',
      defaultNodeIdCodec: nodeIdCodecName,
      pgForbidSetofFunctionsToReturnNull: true,
      // A row that a function takes is an input object, in fields as in mutations.
      pgFunctionsPreferNodeId: false,
      dontSwallowErrors: true,
      // It would print ids that clients have made up.
      muteWarnings: true,
    },
    grafast: {
      // Up to four for each field of the deepest document (`LIMIT_DEPTH`).
      maxPlanningDepth: 2000,
      explain: false,
    },
  };
}

const plugins: readonly GraphileConfig.Plugin[] = [
  CodecNamesPlugin,
  TenantPlugin,
  TextFormsPlugin,
  OidPlugin,
  ScalarInputPlugin,
  TimeInputPlugin,
  EnumValuesPlugin,
  OrdersPlugin,
  SetofPlugin,
  NodeIdPlugin,
  NodeTypePlugin,
  RootFieldsPlugin,
  FollowedTypesPlugin,
  RowOriginsPlugin,
  ChangeNamingPlugin,
  ChangesPlugin,
  ConnectionsPlugin,
  ConnectionArgumentsPlugin,
  ColumnFiltersPlugin,
  KeyFiltersPlugin,
  RowLimitPlugin,
  StatementCountPlugin,
  AccessibleUnitsPlugin,
  UnitTreePlugin,
  UserMutationsPlugin,
  WebhookInputsPlugin,
  WebhooksPlugin,
  InputObjectsPlugin,
  FunctionArgumentsPlugin,
  FunctionMutationsPlugin,
  CompositeAttributesPlugin,
  CompositeDomainsPlugin,
  UncallableFunctionsPlugin,
  UsersSyncPlugin,
  ExternalAuthenticationTokenPlugin,
  ConstraintRulesPlugin,
  RaisedErrorsPlugin,
  VariableNamesPlugin,
];

/** PostGraphile's plugins that are left out. */
const disablePlugins: readonly string[] = [
  // `Query.query` and `Query` as a node served Relay 1.
  'QueryQueryPlugin',
  'RegisterQueryNodePlugin',
  // `user(id:)`, `unit(id:)` and so on beside `node(id:)`; no behaviour turns them off.
  'NodeAccessorPlugin',
  // The authenticator has no rights of its own, by which this would hide everything. Policies decide, not the schema.
  'PgRBACPlugin',
  // A mistake in a migration must stop the start, not quietly drop a field.
  'SwallowErrorsPlugin',
];

declare global {
  namespace Grafast {
    interface RequestContext {
      /** The settings of each transaction of the operation, without which the authenticator reads nothing. */
      pgSettings: Record<string, string>;
    }
  }
}

/**
 * The settings of compilation, as configured.
 * Where the package does not know the libraries, the log says so once a schema, and Grafast executes every operation.
 *
 * @param onState called with whether operations are compiled, first as configured
 */
export function compilationOptions(
  { compilation, limits }: Pick<Config, 'compilation' | 'limits'>,
  log: Log,
  onState: (isCompiling: boolean) => void = () => undefined,
): CompilationOptions {
  onState(compilation);
  return {
    isEnabled: compilation,
    maxBytes: limits.bytes,
    onUnknown(reason) {
      log.warn({ reason }, 'operations are not compiled');
      onState(false);
    },
  };
}
