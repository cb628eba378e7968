--! Previous: sha1:b4ac06aa7c433b410958b116a03d9e8bbac248dc
--! Hash: sha1:7810014312edfe6ff15b82325af62282f581ad86
--! Message: syncs

-- A sync brings many rows at once: it creates what is new, changes what differs and leaves the rest untouched. The rules of the table judge
-- each row. One that breaks a rule is refused by itself, in the words in which a single mutation refuses it.
--
-- Here is what syncs have in common: the outcome of a row, and the rules of a table asked of rows that are not written yet.

create type app_public.sync_outcome as enum ('CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED');
comment on type app_public.sync_outcome is
  E'@value CREATED It was new.\n@value UPDATED It differed.\n@value UNCHANGED It was the same, and is untouched.\n@value REFUSED Nothing of it was written; the error says why.\nWhat came of a row of a sync.';

create type app_public.sync_error as (code text, argument text, message text);
comment on type app_public.sync_error is 'Why a row of a sync was refused.';
comment on column app_public.sync_error.code is E'@notNull\nThe code that a mutation of this row alone would fail with, such as `CONFLICT`.';
comment on column app_public.sync_error.argument is 'The field of the row that is wrong.';
comment on column app_public.sync_error.message is E'@notNull\nThe reason, for people to read.';

-- The rules of a table, asked of rows that are not written yet.

create function app_hidden.refusal_of(rule oid) returns app_public.sync_error
  language sql stable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
    select
      case contype when 'u' then 'CONFLICT' else 'BAD_USER_INPUT' end,
      (regexp_match(comment, '^@argument (\w+)', 'n'))[1],
      coalesce(nullif(regexp_replace(comment, '^(@[^\n]*(\n|$))*', ''), ''), 'A value is not allowed.')
    from (select contype, obj_description(oid, 'pg_constraint') as comment from pg_constraint where oid = refusal_of.rule) as broken
  $$;
comment on function app_hidden.refusal_of(oid) is 'What a client reads when it breaks a constraint: its comment.';

create function app_hidden.broken_checks(rows anyarray) returns oid[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
  declare
    checks text = (
      select string_agg(format('when not (%s) then %s::oid', pg_get_expr(k.conbin, k.conrelid), k.oid), ' ' order by k.conname)
      from pg_constraint k
      join pg_type t on t.typrelid = k.conrelid
      join pg_type list on list.typelem = t.oid
      where list.oid = pg_typeof(rows) and k.contype = 'c');
    broken oid[];
  begin
    execute format('select array_agg(case %s end order by place) from unnest($1) with ordinality as r (%s, place)', checks,
        (select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
         from pg_attribute a
         join pg_type t on t.typrelid = a.attrelid
         join pg_type list on list.typelem = t.oid
         where list.oid = pg_typeof(rows) and a.attnum > 0 and not a.attisdropped))
      into broken using rows;
    return broken;
  end
  $$;
comment on function app_hidden.broken_checks(anyarray) is
  'For each row of a table the check constraint that writing it would break; of several the first by name, as PostgreSQL has it.';
grant execute on function app_hidden.refusal_of(oid), app_hidden.broken_checks(anyarray) to graph_app, graph_admin;
