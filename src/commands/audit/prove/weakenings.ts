import type { ClientBase } from 'pg';
import type { MutationOptions } from 'rls-prover';

/** How the prover weakens this schema, and what else would notice it. */
export const weakeningsOf = (client: ClientBase): Pick<MutationOptions, 'isWeakened' | 'swaps' | 'findLints'> => ({
  // No client reaches the audit's own tables.
  isWeakened: (relation) => !relation.startsWith('audit.'),
  swaps: [
    ['current_organization_id()', 'current_application_id()'],
    ['current_user_id()', 'current_application_id()'],
    ['current_application_id()', 'current_user_id()'],
  ],
  async findLints() {
    const { rows } = await client.query<{ name: string; object: string }>('select name, object from audit.findings');
    return rows.map(({ name, object }) => `${name}: ${object}`);
  },
});
