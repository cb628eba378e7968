create type audit.recorded_columns as (
  secrets text[],
  derived text[],
  subject text,
  key text[],
  is_plain boolean
);
comment on type audit.recorded_columns is 'What the history must know of the columns of a table, by their present names.';
comment on column audit.recorded_columns.derived is 'Those that are not recorded: they follow from others, or are generated.';
comment on column audit.recorded_columns.is_plain is 'Whether no type of a column may contain JSON, whose own nulls stay, as JSON itself and each type that is not PostgreSQL''s own may.';
