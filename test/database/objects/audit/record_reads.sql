CREATE OR REPLACE FUNCTION audit.record_reads(relation regclass, share double precision DEFAULT 1)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    readers text = (select string_agg(q.role, ', ' order by q.role) from audit.request_roles q);
    named text = format('record_reads on %s', (select r.name from audit.relations r where r.relation = record_reads.relation));
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
        'Policies call it with the rights of who reads, and nobody may write the history by hand. It says who asked, as the settings have it.');
    end if;
  end
  $function$;
comment on function audit.record_reads(regclass,double precision) is 'Begins to record who reads a table: all statements, a share of them, or with 0 none any more. Takes the lock that a migration takes. For the owner.';
grant execute on function audit.record_reads(regclass,double precision) to graph_admin;
