import type { PgCodec, PgResource, PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { connection, type ExecutableStep, type GrafastFieldConfig } from 'postgraphile/grafast';
import { GraphQLNonNull, type GraphQLOutputType } from 'postgraphile/graphql';
import { sql } from 'postgraphile/pg-sql2';

/**
 * Connections from comments of tables, where equal columns do not say which rows belong together.
 * `@connection User.accessibleUnits|@where child.ancestor_ids && …|@description …` adds a field to the type User. Its condition is SQL over
 * the columns of the table (`child`) and of the field's own row (`parent`). It is part of the statement, under row-level security.
 */
export const ConnectionsPlugin: GraphileConfig.Plugin = {
  name: 'ConnectionsPlugin',
  after: ['PgRelationsPlugin'],

  schema: {
    hooks: {
      GraphQLObjectType_fields(fields, build, { Self, scope, fieldWithHooks }) {
        if (!scope.pgCodec || !scope.isPgClassType) return fields;
        const added = connectionsOf(build, Self.name).map(({ fieldName, resource, expression, description }) => {
          const connectionType = build.inflection.tableConnectionType(resource.codec as never);
          const type = new GraphQLNonNull(build.getTypeByName(connectionType) as GraphQLOutputType);
          const field = { type, description, plan: planOf(scope.pgCodec as PgCodec, resource, expression) };
          const details = { fieldName, isPgFieldConnection: true, pgFieldResource: resource };
          return [fieldName, fieldWithHooks(details, field as GrafastFieldConfig<never>)];
        });
        return build.extend(fields, Object.fromEntries(added), 'Adding connections by comments of tables');
      },
    },
  },
};

/** The connections that comments add to a type. @throws when a comment has another form */
function connectionsOf(build: GraphileBuild.Build, typeName: string) {
  return Object.values<PgResource>(build.pgResources).flatMap((resource) => {
    const tags = resource.parameters ? [] : [resource.extensions?.tags?.connection ?? []].flat();
    return tags.flatMap((tag) => {
      const [path = '', expression = '', description = '', ...more] = String(tag).split(/\|@(?:where|description) /);
      const [, parent, fieldName] = /^(\w+)\.(\w+)$/.exec(path) ?? [];
      if (!parent || !fieldName || !expression || !description || more.length > 0 || !build.getTypeByName(parent))
        throw new Error(`${resource.name}: "@connection ${tag}" is not <type>.<field>|@where …|@description …`);
      return parent === typeName ? [{ fieldName, resource, expression, description }] : [];
    });
  });
}

/** @throws when the condition names a column that does not exist */
function planOf(parent: PgCodec, resource: PgResource, expression: string) {
  const columns = Array.from(expression.matchAll(/\b(child|parent)\.(\w+)/g), ([whole, of, column = '']) => {
    const isOfChild = of === 'child';
    if ((isOfChild ? resource.codec : parent).attributes?.[column]) return { isOfChild, column };
    throw new Error(`${resource.name}: "@connection … ${expression}" names ${whole}, and there is no such column`);
  });
  const texts = expression.split(/\b(?:child|parent)\.\w+/);
  const isOfTenant = [parent, resource.codec].every(({ attributes }) => attributes?.organization_id);

  return ($parent: ExecutableStep) => {
    const $row = $parent as PgSelectSingleStep;
    const $rows = resource.find(isOfTenant ? { organization_id: $row.get('organization_id') } : {});
    const values = columns.map(({ isOfChild, column }) =>
      isOfChild ? sql`${$rows.alias}.${sql.identifier(column)}` : $rows.placeholder($row.get(column) as never),
    );
    $rows.where(sql(Object.assign([...texts], { raw: texts }), ...values));
    return connection($rows as never);
  };
}
