--! Previous: sha1:389f2185981339be6a70c997023caef598c85f9b
--! Hash: sha1:e7e7fb810cda448f5ffe29c21f0c7cba00d838c8
--! Message: count by the clock of PostgreSQL

-- Servers count together, and their clocks differ.
comment on column oauth.throttles.expire is 'Unix time in milliseconds, by the clock of PostgreSQL.';
