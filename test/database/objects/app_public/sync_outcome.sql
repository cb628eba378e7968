create type app_public.sync_outcome as enum ('CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED');
comment on type app_public.sync_outcome is '@value CREATED It was new.
@value UPDATED It differed.
@value UNCHANGED It was the same, and is untouched.
@value REFUSED Nothing of it was written; the error says why.
What came of a row of a sync.';
