import { hiddenTables } from './hiddenTables.ts';
import { oauthTables } from './oauthTables.ts';
import { publicTables } from './publicTables.ts';
import { organization } from './rows.ts';
import type { Table } from './table.ts';

/** Every table and view of the database: what its rows are, and who sees and changes which. */
export const tables: Record<string, Table> = {
  ...hiddenTables,
  ...publicTables,
  'feed.changes': {
    key: 'organization_id',
    rows: (world) => world.organizations.map((organization) => ({ organization, key: organization })),
    sees: { graph_app: organization },
  },
  ...oauthTables,
};
