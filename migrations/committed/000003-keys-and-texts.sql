--! Previous: sha1:47d9e3e1e3629594cad09bfa4498da0a92d2461d
--! Hash: sha1:04ec5dc03697c26bac42191d9daabe01bb4949c3
--! Message: keys and texts

-- What the columns of many tables have in common: keys, texts that people read, and the time of the last change.
--
-- Nothing here goes by the locale of the database, which is its owner's choice. Columns that clients sort by have the collation "C": the order of
-- code points is the same on every server, and an index in it serves prefixes, too. Lower case is that of Unicode, by a collation of our own.
--
-- Keys are UUIDs in the order of time. So the default order is the order of creation, and inserts stay at one end of each index.
-- Texts that people read are trimmed, not empty, at most 200 characters long and free of control characters.

create function app_hidden.uuid_v7() returns uuid
  language plpgsql volatile parallel safe set search_path = pg_catalog, pg_temp
  as $$
  declare
    microseconds bigint = extract(epoch from clock_timestamp()) * 1000000;
  begin
    -- 48 bits of milliseconds, the version and 12 bits of what is below a millisecond, the variant and 62 random bits.
    return encode(
      substring(int8send(microseconds / 1000) from 3)
      || int2send((x'7000'::int + microseconds % 1000 * 4096 / 1000)::int2)
      || substring(uuid_send(gen_random_uuid()) from 9),
      'hex');
  end
  $$;
comment on function app_hidden.uuid_v7() is 'A new UUID version 7 (RFC 9562); PostgreSQL has its own from 18 on.';
grant execute on function app_hidden.uuid_v7() to graph_app, graph_oauth, graph_admin, graph_worker;

-- Of ICU, since `C` folds ASCII alone, Turkish makes another letter of I, and PostgreSQL 15 and 16 have no other that knows all letters.
do $$
begin
  create collation app_hidden.unicode (provider = icu, locale = 'und');
exception
  when feature_not_supported then
    raise exception 'the database needs the encoding UTF8, on a PostgreSQL that was built with ICU (its packages are): it has % and %',
      getdatabaseencoding(), case when exists (select from pg_collation where collname = 'und-x-icu') then 'ICU' else 'no ICU' end;
end
$$;
comment on collation app_hidden.unicode is 'The root of Unicode (CLDR), for case: the same on every server, whatever the locale of the database.';

create function app_hidden.lowercase(value text) returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return lower(value collate app_hidden.unicode); end $$;
comment on function app_hidden.lowercase(text) is 'The text in lower case, by which texts that differ in case alone are the same; for generated columns, too.';
grant execute on function app_hidden.lowercase(text) to graph_app, graph_user, graph_basic, graph_oauth, graph_admin, graph_helper;

create function app_hidden.white_space() returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    return e'\u0009\u000a\u000b\u000c\u000d\u0020\u0085\u00a0\u1680'
      '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  end
  $$;
comment on function app_hidden.white_space() is 'The characters that String.prototype.trim removes, and U+0085: a constant, made once for each statement.';

create function app_hidden.trimmed(value text) returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return btrim(value, app_hidden.white_space()); end $$;
comment on function app_hidden.trimmed(text) is 'The text without the white space around it (the characters that String.prototype.trim removes, and U+0085).';

create function app_hidden.is_text(value text) returns boolean
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    return char_length(value) between 1 and 200
      and value collate "C" !~ e'[\u0001-\u001f\u007f-\u009f]'
      and value collate "C" = app_hidden.trimmed(value);
  end
  $$;
comment on function app_hidden.is_text(text) is 'Whether a text is trimmed, not empty, at most 200 characters long and free of control characters.';

grant execute on function app_hidden.white_space() to graph_app, graph_admin, graph_helper;
-- PostgreSQL asks all checks of a row that is updated.
grant execute on function app_hidden.trimmed(text), app_hidden.is_text(text) to graph_app, graph_admin, graph_helper;

-- A row as JSON, whatever its types. The type json keeps what jsonb cannot: \u0000, half a surrogate pair, numbers without bound. Then the escapes
-- of the row are kept as text, and so is each value that is still none of jsonb's. Nothing that is kept or compared this way fails a write.
-- PostgreSQL reads a body by the settings of the session: a backslash in it needs `standard_conforming_strings`, or a literal e'…'.
create function app_hidden.row_values(value record) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
  declare
    column_name text;
    column_value json;
    result jsonb = '{}';
  begin
    return to_jsonb(value);
  exception when data_exception or program_limit_exceeded then
    for column_name, column_value in
      select key, e.value from json_each(regexp_replace(to_json(row_values.value)::text, '(?<!\\)((?:\\\\)*)\\u', '\1\\\\u', 'g')::json) as e
    loop
      begin
        result = result || jsonb_build_object(column_name, column_value::jsonb);
      exception when data_exception or program_limit_exceeded then
        result = result || jsonb_build_object(column_name, column_value::text);
      end;
    end loop;
    return result;
  end
  $$;
comment on function app_hidden.row_values(record) is 'A row as to_jsonb has it; what jsonb cannot hold is text.';
grant execute on function app_hidden.row_values(record) to graph_app, graph_user, graph_oauth, graph_worker, graph_admin, graph_helper;

-- Not now(): of two transactions the one that waits for the other may have begun before it. What is generated is not yet known here, and
-- follows from the rest. No condition of the trigger compares the rows: it would fail for types without equality, and a dump with a generated
-- column could not be restored. A trigger without arguments has null for tg_argv, by which nothing would differ.
create function app_hidden.set_updated_at() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  declare
    others constant text[] = coalesce(tg_argv, '{}')
      || array(select a.attname::text from pg_attribute a where a.attrelid = tg_relid and a.attnum > 0 and a.attgenerated <> '');
    is_changed boolean;
  begin
    begin
      is_changed = to_jsonb(new) - others <> to_jsonb(old) - others;
    exception when data_exception or program_limit_exceeded then
      is_changed = app_hidden.row_values(new) - others <> app_hidden.row_values(old) - others;
    end;
    if is_changed then
      new.updated_at := clock_timestamp();
    end if;
    return new;
  end
  $$;
comment on function app_hidden.set_updated_at() is
  'Notes when a row was changed, unless nothing of it is; its arguments are columns that do not count, as generated ones do not.';
