import type { Precondition } from '../database/driver/statement.ts';

/**
 * Fencing token of a move: fails, first in a transaction, unless this database serves the organization of the claims.
 * If it succeeds, a cut-over waits for the end of the transaction. Access tokens have the same in their own check.
 */
export const requireOwnService: Precondition = {
  name: 'require_own_service',
  isPinned: true,
  text: 'select app_hidden.require_service(app_hidden.current_organization_id())',
  values: [],
};
