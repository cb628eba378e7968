create view app_public.app with (security_invoker=true) as
 SELECT organization_id,
    id,
    name
   FROM oauth.applications
  WHERE organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND id = (( SELECT app_hidden.current_application_id() AS current_application_id));
comment on view app_public.app is '@primaryKey id
@unique organization_id|@behavior -*
@behavior -type:node
The API application that the token was issued to, and all that it may read.';
comment on column app_public.app.name is '@notNull
Name of the app.';

grant select on app_public.app to graph_app;
