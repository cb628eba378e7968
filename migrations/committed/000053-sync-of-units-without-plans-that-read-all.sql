--! Previous: sha1:fe87a0060e36514fc64ed6a29f03c76f675f99d3
--! Hash: sha1:d2034024a6d8328b51145ae4a4a1b2798d5b7bfd
--! Message: sync of units without plans that read all

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- No plan that is kept joins the table: it may have been made when the table was small, and read all units of the organization for each row of a sync.
create or replace function app_hidden.write_units(judged app_hidden.judged_unit[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = auto set enable_seqscan = off
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    changes_by_id jsonb = (select jsonb_object_agg((before).id, changes) from unnest(judged) where outcome = 'UPDATED');
    moved_ids uuid[] = '{}';
    layer app_hidden.judged_unit[];
    layer_ids uuid[];
  begin
    -- From the top of the tree to its bottom: the way from a new parent to its root is by then as it will be, so that no move closes a circle.
    for layer in
      select array_agg(j order by j.place)
      from unnest(judged) as j
      where j.outcome = 'CREATED' or j.outcome = 'UPDATED' and (j.before).parent_id is distinct from (j.after).parent_id
      group by j.depth
      order by j.depth
    loop
      insert into app_public.units (organization_id, id, parent_id, external_identifier, name)
      select organization, (after).id, (after).parent_id, (after).external_identifier, (after).name
      from unnest(layer)
      where outcome = 'CREATED'
      order by (after).id;

      layer_ids = array(select (before).id from unnest(layer) where outcome = 'UPDATED');
      if layer_ids <> '{}' then
        update app_public.units u set (name, parent_id) = (
          select c.name, c.parent_id from jsonb_populate_record(u, changes_by_id -> u.id::text) as c
        )
        where u.organization_id = organization and u.id = any (layer_ids);
        moved_ids = moved_ids || layer_ids;
      end if;
    end loop;

    update app_public.units u set name = (select c.name from jsonb_populate_record(u, changes_by_id -> u.id::text) as c)
    where u.organization_id = organization
      and u.id = any (array(select (before).id from unnest(judged) where outcome = 'UPDATED' and (before).id <> all (moved_ids)));
  end
  $$;
