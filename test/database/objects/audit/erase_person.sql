CREATE OR REPLACE FUNCTION audit.erase_person()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
  begin
    -- Runs as graph_helper because nobody may change the history by hand.
    update audit.changes
    set before = null, after = null, salt = null, commitment = sha256(convert_to(concat(salt, e'\n', before, e'\n', after), 'UTF8'))
    where subject_id = old.id and organization_id = old.organization_id and (before is not null or after is not null);
    return null;
  end
  $function$;
alter function audit.erase_person() owner to graph_helper;
comment on function audit.erase_person() is 'Takes all values out of the history of a person who was deleted, and leaves their commitments.';
