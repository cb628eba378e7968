--! Previous: sha1:bab3c784eb43028105c3323c8925970170328bc4
--! Hash: sha1:0ad564168467ead4eef4148adefe84c8ba64039b
--! Message: audit recorded reads

-- Recorded reads: the history gets an entry for each statement that reads a table, or for a sample of them. An entry says who asked, and
-- not which rows were answered; audit.visible_at says which they could be.
--
-- A restrictive policy calls a function that adds the entry. The call is a subquery of its own, which PostgreSQL evaluates once for each
-- statement. So rows that a filter or a limit leaves out do not count as read. The policy is always true.

create function audit.record_read(relation text, share float8) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set row_security = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    organization_id uuid;
  begin
    if share < 1 and random() >= share then
      return true;
    end if;
    if pg_is_in_recovery() then
      -- The service asks the primary then.
      raise exception 'reading % is recorded, which a replica cannot', relation using errcode = 'STALE';
    end if;
    -- Runs as graph_helper because no client role may write the history. Before it is known whose a client is, there is no organization.
    organization_id = coalesce(nullif(current_setting('graph.organization_id', true), ''), '00000000-0000-0000-0000-000000000000');
    insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, after)
    values (organization_id, organization_id, relation, organization_id::text, 'select', '{}', jsonb_build_object('share', share));
    return true;
  end
  $$;
comment on function audit.record_read(text, float8) is 'Adds to the history that a statement reads a table, or does so for this share of them; always true. For the policies of audit.record_reads.';
grant create on schema audit to graph_helper;
alter function audit.record_read(text, float8) owner to graph_helper;
revoke create on schema audit from graph_helper;

create function audit.record_reads(relation regclass, share float8 default 1) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    readers text = (select string_agg(q.role, ', ' order by q.role) from audit.request_roles q);
    named text = format('record_reads on %s', (select r.name from audit.relations r where r.relation = record_reads.relation));
    kept audit.accepted[] = array(
      select a from audit.accepted a where a.kind = 'invariant' and a.hash = audit.hash_of(a.object, a.who));
  begin
    if (share between 0 and 1) is not true then
      raise exception using errcode = 'invalid_parameter_value', message = format('%s is no share of reads: from 0, for none, to 1, for all', share);
    elsif not exists (select from pg_class c where c.oid = relation and c.relrowsecurity) then
      raise exception using
        errcode = 'invalid_parameter_value', message = format('%s has no row-level security', relation), hint = 'Record what a view reads by its tables.';
    end if;
    -- A policy calls a function with the rights of the caller. None of these may use the schema, and so none can call it by name.
    execute format('revoke execute on function audit.record_read(text, float8) from %s', readers);
    delete from audit.accepted where kind = 'definer' and object = 'audit.record_read(text, double precision)' and who <> 'nobody';
    execute format('drop policy if exists record_reads on %s', relation);
    delete from audit.accepted where kind = 'literal_in_policy' and object = named;
    if share > 0 then
      insert into audit.accepted values ('literal_in_policy', named, '', 'The table that is read, and the share that is recorded.');
      execute format(
        'create policy record_reads on %1$s as restrictive for select to %4$s
           using (case when (select audit.record_read(%2$L, %3$L)) then true else true end)',
        relation, (select r.name from audit.relations r where r.relation = record_reads.relation), share, readers);
      execute format('comment on policy record_reads on %s is %L', relation, 'Each statement that reads the table is recorded, or a sample of them; hides nothing.');
    end if;
    if exists (select from pg_policy p where p.polname = 'record_reads') then
      execute format('grant execute on function audit.record_read(text, float8) to %s', readers);
      insert into audit.accepted (kind, object, who, reason) values (
        'definer', 'audit.record_read(text, double precision)', readers,
        'Policies call it with the rights of who reads, and no client role may write the history. It says who asked, as the settings have it.');
    end if;
    -- A policy that is true for any row changes nothing of what was accepted.
    update audit.accepted a set hash = audit.hash_of(a.object, a.who)
    from unnest(kept) as k where (a.kind, a.object, a.who) = (k.kind, k.object, k.who);
  end
  $$;
comment on function audit.record_reads(regclass, float8) is
  'Begins to record who reads a table: all statements, a share of them, or with 0 none any more. Takes the lock that a migration takes. For the owner.';
grant execute on function audit.record_reads(regclass, float8) to graph_admin;
