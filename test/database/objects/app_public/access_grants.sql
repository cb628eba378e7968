create view app_public.access_grants with (security_invoker=true) as
 SELECT organization_id,
    id,
    user_id,
    unit_id,
    source,
    valid_from,
    valid_until,
    created_at
   FROM app_hidden.unit_access;
comment on view app_public.access_grants is '@primaryKey id
@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName accessGrants|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All grants of the organization, those that have ended or have yet to begin included.
@foreignKey (organization_id, user_id) references app_public.users (organization_id, id)|@fieldName user|@foreignFieldName accessGrants|@notNull|@backwardBehavior -list +connection|@forwardDescription Who may enter.|@backwardDescription The units that the user may enter, each with all below it, from their beginning to their end.
@foreignKey (organization_id, unit_id) references app_public.units (organization_id, id)|@fieldName unit|@foreignFieldName accessGrants|@notNull|@backwardBehavior -list +connection|@forwardDescription The unit that the user may enter, and all below it.|@backwardDescription Who may enter by a grant on this very unit.
Access of a user to a unit and to everything below it. Outside its time a grant gives no access.';
comment on column app_public.access_grants.user_id is '@behavior -*';
comment on column app_public.access_grants.unit_id is '@behavior -*';
comment on column app_public.access_grants.source is '@behavior -orderBy
The system that has given it; null when it was given by hand.';
comment on column app_public.access_grants.valid_from is '@behavior -orderBy
From when it gives access; null for ever since.';
comment on column app_public.access_grants.valid_until is '@behavior -orderBy
Until when, exclusive, it gives access; null for ever.';
comment on column app_public.access_grants.created_at is '@notNull
@behavior -orderBy
When access was granted.';

grant select on app_public.access_grants to graph_app;
grant select on app_public.access_grants to graph_basic;
grant select on app_public.access_grants to graph_user;
