create type app_public.delete_outcome as enum ('DELETED', 'NOT_FOUND');
comment on type app_public.delete_outcome is '@value DELETED It was deleted.
@value NOT_FOUND There was none.
What came of an object that was to be deleted.';
