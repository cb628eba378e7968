/**
 * Multi-tenancy: hides the tenant column, with which every key in the database begins.
 * Row-level security shows the caller only one organization, so that within the graph `id` alone identifies a row.
 */
export const TenantPlugin: GraphileConfig.Plugin = {
  name: 'TenantPlugin',
  after: ['PgSimplifyInflectionPlugin'],

  inflection: {
    replace: {
      singleRelation: (previous, _options, details) => previous?.(ofGraph(details)) ?? '',
      singleRelationBackwards: (previous, _options, details) => previous?.(ofGraph(details)) ?? '',
      manyRelationConnection: (previous, _options, details) => previous?.(ofGraph(details)) ?? '',
      manyRelationList: (previous, _options, details) => previous?.(ofGraph(details)) ?? '',
    },
  },

  gather: {
    hooks: {
      pgTables_unique(_info, { unique }) {
        unique.attributes = withoutTenant(unique.attributes);
      },
    },
  },

  schema: {
    entityBehavior: {
      pgCodecAttribute: {
        override: (behavior, [, attributeName]) => (attributeName === tenantAttribute ? [behavior, '-*'] : behavior),
      },
    },
  },
};

const tenantAttribute = 'organization_id';

const withoutTenant = (attributes: readonly string[]) =>
  attributes.filter((attribute) => attribute !== tenantAttribute);

type RelationDetails = Parameters<GraphileBuild.Inflection['singleRelation']>[0];

/** The relation without the tenant's columns: its name is `Visit.unit`, not `Visit.organizationUnit`. */
function ofGraph<Details extends RelationDetails>(details: Details): Details {
  const { registry, codec, relationName } = details;
  const relation = registry.pgRelations[codec.name]?.[relationName];
  if (!relation || relation.localAttributes.length < 2) return details;
  const keeps = relation.localAttributes.map((attribute) => attribute !== tenantAttribute);
  const named = {
    ...relation,
    localAttributes: relation.localAttributes.filter((_, index) => keeps[index]),
    remoteAttributes: relation.remoteAttributes.filter((_, index) => keeps[index]),
  };
  return { ...details, registry: { ...registry, pgRelations: { [codec.name]: { [relationName]: named } } } };
}
