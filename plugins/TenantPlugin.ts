import type {} from 'postgraphile';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      TenantPlugin: true;
    }
  }
}

/**
 * Keeps the tenant out of the graph. Every key in the database begins with `organization_id`, but the caller's policies
 * leave only one organization, so that within the graph `id` alone identifies a row, and the column is not shown.
 */
export const TenantPlugin: GraphileConfig.Plugin = {
  name: 'TenantPlugin',
  description: 'Identifies rows by their key without organization_id, and hides that column',
  version: '1.0.0',

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
