CREATE OR REPLACE FUNCTION app_hidden.cards_keep_type()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    raise exception 'The type of a card does not change' using errcode = 'feature_not_supported', hint = 'Delete the card, and add another.';
  end
  $function$;
comment on function app_hidden.cards_keep_type() is 'Keeps the type of a card as it is.';
