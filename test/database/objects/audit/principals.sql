create view audit.principals with (security_invoker=true) as
 SELECT 'app:'::text || a.client_id AS principal,
    a.name,
    'graph_app'::text AS role,
    'app'::text AS scope,
    a.organization_id,
    a.id AS application_id,
    NULL::uuid AS user_id,
    a.disabled_at IS NOT NULL AS disabled
   FROM oauth.applications a
  WHERE 'app'::text = ANY (a.scopes)
UNION ALL
 SELECT 'basic:'::text || a.client_id AS principal,
    a.name,
    'graph_basic'::text AS role,
    'basic'::text AS scope,
    a.organization_id,
    a.id AS application_id,
    NULL::uuid AS user_id,
    a.disabled_at IS NOT NULL AS disabled
   FROM oauth.applications a
  WHERE 'basic'::text = ANY (a.scopes)
UNION ALL
 SELECT 'me:'::text || u.id AS principal,
    u.full_name AS name,
    'graph_user'::text AS role,
    'me'::text AS scope,
    u.organization_id,
    NULL::uuid AS application_id,
    u.id AS user_id,
    COALESCE(c.disabled_at IS NOT NULL, false) AS disabled
   FROM app_public.users u
     LEFT JOIN oauth.credentials c ON c.organization_id = u.organization_id AND c.user_id = u.id
UNION ALL
 SELECT 'oauth:'::text || o.id AS principal,
    o.name,
    'graph_oauth'::text AS role,
    ''::text AS scope,
    o.id AS organization_id,
    NULL::uuid AS application_id,
    NULL::uuid AS user_id,
    false AS disabled
   FROM app_hidden.organizations o;
comment on view audit.principals is 'Everybody that a request can come as: an application or a person in a scope, or the OAuth server at work for an organization.';
comment on column audit.principals.principal is '`app:<client id>`, `basic:<client id>`, `me:<user id>` or `oauth:<organization id>`.';
comment on column audit.principals.disabled is 'Whether its tokens are refused.';

grant select on audit.principals to graph_admin;
