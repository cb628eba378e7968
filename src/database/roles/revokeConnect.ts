import type { ClientBase } from 'pg';
import type { Log } from '../../log.ts';

/**
 * Least privilege: revokes CONNECT on the database from PUBLIC.
 * Roles belong to the cluster, and roles of its other databases may have rights in this one. This database's login roles, including those
 * of earlier runs, and auditors keep CONNECT. The log names the login roles that lose it. If another role owns the database, the log has
 * the SQL for that role.
 */
export async function revokeConnectFromPublic(owner: ClientBase, log: Log): Promise<void> {
  const { rows } = await owner.query<{ isOwner: boolean; statements: string[] }>(
    `select pg_has_role(d.datdba, 'usage') as "isOwner", array[
       format('grant connect on database %I to %s', d.datname, (
         select string_agg(distinct r.oid::regrole::text, ', ')
         from pg_namespace n, aclexplode(n.nspacl) acl, pg_roles r
         where n.nspname = 'graphile_migrate' and r.oid in (acl.grantee, 'graph_auditor'::regrole, current_user::regrole))),
       format('revoke connect on database %I from public', d.datname)
     ] as statements
     from pg_database d
     where d.datname = current_database()
       and exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) where grantee = 0 and privilege_type = 'CONNECT')`,
  );
  const [found] = rows;
  if (!found) return;
  const statements = found.statements.join('; ');
  if (!found.isOwner) {
    const facts = { remedy: statements };
    return log.warn(facts, 'every role of the cluster may connect to this database; its owner can take that away');
  }
  await owner.query(statements);
  const losers = await owner.query<{ name: string }>(
    `select rolname::text as name from pg_roles
     where rolcanlogin and not has_database_privilege(oid, current_database(), 'connect')
     order by rolname limit 20`,
  );
  if (losers.rowCount === 0) return;
  const facts = { roles: losers.rows.map(({ name }) => name), remedy: 'grant connect on database … to …' };
  log.warn(facts, 'these login roles may no longer connect to this database: PUBLIC has lost CONNECT');
}
