#!/usr/bin/env bash
# A streaming replica of the primary; copies it the first time.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  install --directory --mode=0700 "$PGDATA"
  pg_basebackup --host=primary --username=graph_replication --pgdata="$PGDATA" --wal-method=stream \
    --slot=replica --write-recovery-conf --checkpoint=fast
fi
exec postgres
