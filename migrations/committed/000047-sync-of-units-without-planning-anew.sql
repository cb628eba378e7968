--! Previous: sha1:1a172e12ef7640a647a809fa727ea80828110e58
--! Hash: sha1:f08626840186fb90cb72ce48f1221f009bb6c73c
--! Message: sync of units without planning anew

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- A sync of units costs what its writes cost. Settings of a function hold for the triggers of what it writes, too: by force_custom_plan each
-- written row had their statements planned anew. A chain of 100 units took 240 ms with that, and takes 130 ms; one of 1,000, 30 s and 7 s.
-- Without sequential scans a plan that was made when the table was small still uses the index.

alter function app_hidden.write_units(app_hidden.judged_unit[]) set plan_cache_mode = auto;
alter function app_hidden.write_units(app_hidden.judged_unit[]) set enable_seqscan = off;
