create view oauth.live_access_tokens with (security_invoker=true) as
 SELECT t.token_hash,
    g.organization_id,
    g.application_id,
    a.client_id,
    g.user_id,
    g.id AS grant_id,
    t.scopes,
    t.created_at,
    t.expires_at
   FROM oauth.access_tokens t
     JOIN oauth.grants g ON g.organization_id = t.organization_id AND g.id = t.grant_id
     JOIN oauth.applications a ON a.organization_id = g.organization_id AND a.id = g.application_id
  WHERE t.expires_at > statement_timestamp() AND a.disabled_at IS NULL AND NOT (EXISTS ( SELECT
           FROM oauth.credentials c
          WHERE c.organization_id = g.organization_id AND c.user_id = g.user_id AND c.disabled_at IS NOT NULL));
comment on view oauth.live_access_tokens is 'The claims of the access tokens that open something now: not expired, not revoked, application and person enabled.';

grant select on oauth.live_access_tokens to graph_admin;
grant select on oauth.live_access_tokens to graph_helper;
