create view audit.roles with (security_invoker=true) as
 SELECT DISTINCT role AS role_id,
        CASE role
            WHEN 0 THEN 'public'::text
            ELSE pg_get_userbyid(role)::text
        END AS role
   FROM ( SELECT acl.grantee AS role,
            c.relowner AS owner
           FROM pg_class c,
            LATERAL aclexplode(c.relacl) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE (c.oid IN ( SELECT relations.relation
                   FROM audit.relations))
        UNION ALL
         SELECT acl.grantee,
            c.relowner
           FROM pg_attribute a
             JOIN pg_class c ON c.oid = a.attrelid,
            LATERAL aclexplode(a.attacl) acl(grantor, grantee, privilege_type, is_grantable)
          WHERE (c.oid IN ( SELECT relations.relation
                   FROM audit.relations))
        UNION ALL
         SELECT unnest(policies.role_ids) AS unnest,
            NULL::oid
           FROM audit.policies) granted
  WHERE role IS DISTINCT FROM owner;
comment on view audit.roles is 'Roles that have been granted something, or that a policy names.';

grant select on audit.roles to graph_admin;
grant select on audit.roles to graph_auditor;
