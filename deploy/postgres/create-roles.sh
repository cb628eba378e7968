#!/usr/bin/env bash
# Runs once, when the primary's data directory is made: the owner with its database, and the role by which replicas follow.
set -euo pipefail

psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres \
  --set=owner_password="$OWNER_PASSWORD" --set=replication_password="$REPLICATION_PASSWORD" <<'SQL'
create role graph_owner login createrole createdb password :'owner_password';
create database graph owner graph_owner;
create role graph_replication login replication password :'replication_password';
-- What the primary keeps for the replica while that is away.
select pg_create_physical_replication_slot('replica');
alter system set max_slot_wal_keep_size = '4GB';
select pg_reload_conf();
SQL

echo 'host replication graph_replication all scram-sha-256' >>"$PGDATA/pg_hba.conf"
