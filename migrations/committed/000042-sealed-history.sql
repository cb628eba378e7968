--! Previous: sha1:1ae24bcdd0220c5d3c2d0df263acac80e78960b6
--! Hash: sha1:4d950d665c4e76353b7b19bc4da97e1170feb9d0
--! Message: sealed history

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- A history that needs no trust in the administrator: `npm run -s audit -- seal` chains its entries by their hashes, and prints the head.
-- Who keeps that elsewhere finds by `npm run -s audit -- verify --head …` what was changed since, also by the owner with triggers off.
--
-- Nothing is hashed while entries are written. An entry has a random salt, and its values are hashed along with it: the commitment. When a
-- person is erased, values and salt give way to the commitment, so that the chain can still be computed and says nothing of the person.
-- docs/auditing-access.md has the form of what is hashed.

drop table if exists audit.chains;
drop table if exists audit.seals;

do $$
begin
  -- A constant default is written to no row: entries from before this migration share one salt, which their erasure cannot take from the
  -- others. Somebody who has a copy of it can confirm a guess of all that such an entry said, for as long as the entry is kept.
  if not exists (select from pg_attribute where attrelid = 'audit.changes'::regclass and attname = 'salt' and not attisdropped) then
    execute format('alter table audit.changes add column salt uuid default %L', gen_random_uuid());
  end if;
end
$$;
alter table audit.changes alter column salt set default gen_random_uuid();
alter table audit.changes add column if not exists commitment bytea;
comment on column audit.changes.salt is 'Random. Hashed along with the values, so that nobody can guess them from the hash. Null once these are erased.';
comment on column audit.changes.commitment is 'The hash of the values and their salt once these are erased: SHA-256 of salt, before and after, each on a line of its own; else null.';
grant select (salt), update (salt, commitment) on audit.changes to graph_helper;

-- Entries are sealed in the order of their ids. They are written in nearly the same, so that a few pages say where each id is.
-- squawk-ignore require-concurrent-index-creation
create index if not exists changes_id_idx on only audit.changes using brin (id) with (pages_per_range = 32, autosummarize = true);

create or replace function audit.erase_person() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because nobody may change the history by hand.
    update audit.changes
    set before = null, after = null, salt = null, commitment = sha256(convert_to(concat(salt, e'\n', before, e'\n', after), 'UTF8'))
    where subject_id = old.id and organization_id = old.organization_id and (before is not null or after is not null);
    return null;
  end
  $$;
comment on function audit.erase_person() is 'Takes all values out of the history of a person who was deleted, and leaves their commitments.';

create table audit.seals (
  number bigint not null,
  sealed_at timestamptz not null,
  retention interval not null,
  until bigint not null,
  ids int8multirange not null,
  pending int8multirange not null,
  marks bytea not null,
  head bytea not null,
  constraint seals_pkey primary key (number)
);
comment on table audit.seals is 'The seals of the history, each of which chains the entries since the one before it. Append-only.';
comment on column audit.seals.sealed_at is 'When it was made: an entry above `until` is from after that.';
comment on column audit.seals.retention is 'audit.retention() at that time: entries may be missing from months that were older.';
comment on column audit.seals.until is 'The highest id that it, or one before it, may have sealed.';
comment on column audit.seals.ids is 'The ids of the entries that it seals; those of rolled back changes are missing.';
comment on column audit.seals.pending is 'The ids up to `until` that transactions which were open may still add. A later seal has those that came.';
comment on column audit.seals.marks is 'The first four bytes of the hash of each entry, in the order of ids: they say which entry was changed.';
comment on column audit.seals.head is 'The hash of the seal, of its chains and of the head before it.';

create table audit.chains (
  organization_id uuid not null,
  month date not null,
  seal bigint not null,
  entries bigint not null,
  head bytea not null,
  -- The newest head of an organization's month: `order by seal desc limit 1`.
  constraint chains_pkey primary key (organization_id, month, seal)
);
create index chains_seal_idx on audit.chains (seal);
-- Absent on purpose: a foreign key to the seal. Its head has the hashes of all that it brings.
comment on table audit.chains is 'The hash chain of each organization and month (UTC), as far as each seal has brought it. Stays when the entries are gone. Append-only.';
comment on column audit.chains.entries is 'How many entries the seal has added.';
comment on column audit.chains.head is 'The hash of the last entry and of the head before it.';

alter table audit.seals enable row level security, force row level security;
create policy select_graph_admin on audit.seals for select to graph_admin using (true);
comment on policy select_graph_admin on audit.seals is 'Administration reads the seals, and cannot rewrite them.';
create policy select_graph_auditor on audit.seals for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.seals is 'An auditor verifies the history of every organization.';
create policy insert_graph_admin on audit.seals for insert to graph_admin with check (true);
comment on policy insert_graph_admin on audit.seals is 'The owner seals the history.';
alter table audit.chains enable row level security, force row level security;
create policy select_graph_admin on audit.chains for select to graph_admin using (true);
comment on policy select_graph_admin on audit.chains is 'Administration reads the chains, and cannot rewrite them.';
create policy select_graph_auditor on audit.chains for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.chains is 'An auditor verifies the history of every organization.';
create policy insert_graph_admin on audit.chains for insert to graph_admin with check (true);
comment on policy insert_graph_admin on audit.chains is 'The owner seals the history.';
grant select on audit.seals, audit.chains to graph_auditor, graph_admin;
grant insert on audit.seals, audit.chains to graph_admin;
-- Absent on purpose: any right to change or delete a seal, and any right of a request.

-- As before, but for changes_before: it loses whole months, as the partitions do, so that a chain is either whole or gone.

create or replace function oauth.purge_changes(batch int) returns table (changes int, months int, new_months int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms'
  as $$
  declare
    expired regclass;
  begin
    -- Runs as the owner of the history, since only that may make or drop a partition. Who uses one makes this give up, and waits no longer
    -- than it does. One kind of change for each transaction, so that no two locks are held together.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge_changes', 0)) then
      return;
    end if;
    changes = 0;
    months = 0;
    new_months = audit.create_partitions();
    if new_months = 0 then
      select p.partition into expired
      from audit.partitions p
      where p.until <= statement_timestamp() - audit.retention()
      order by p.until
      limit 1;
      if expired is not null then
        execute format('drop table %s', expired);
        months = 1;
      -- The one of many months, from before there were partitions; a policy says which rows.
      elsif to_regclass('audit.changes_before') is not null then
        delete from audit.changes_before
        where ctid = any (array(
          select old.ctid from audit.changes_before old
          where old.occurred_at < date_trunc('month', statement_timestamp() - audit.retention(), 'UTC')
          order by old.occurred_at
          limit purge_changes.batch));
        get diagnostics changes = row_count;
      end if;
    end if;
    return next;
  end
  $$;
