import type {} from 'postgraphile';

/** The names of the plugins, by which they order themselves and a preset disables them. */
declare global {
  namespace GraphileConfig {
    interface Plugins {
      AccessibleUnitsPlugin: true;
      ByteLimitPlugin: true;
      ChildrenPlugin: true;
      ColumnFiltersPlugin: true;
      ConnectionArgumentsPlugin: true;
      ConstraintRulesPlugin: true;
      CursorDigestPlugin: true;
      EnumValuesPlugin: true;
      ExternalAuthenticationTokenPlugin: true;
      FunctionArgumentsPlugin: true;
      FunctionMutationsPlugin: true;
      FusionPlugin: true;
      InputObjectsPlugin: true;
      NodeIdPlugin: true;
      NodeTypePlugin: true;
      OrdersPlugin: true;
      ParentPlugin: true;
      RootFieldsPlugin: true;
      RootUnitsPlugin: true;
      RowLimitPlugin: true;
      SetofPlugin: true;
      StatementCountPlugin: true;
      TenantPlugin: true;
      TextFormsPlugin: true;
      UncallableFunctionsPlugin: true;
      UserMutationsPlugin: true;
      VariableNamesPlugin: true;
      ViewerIdPlugin: true;
    }
  }
}
