#!/bin/sh
# The password comes by the environment and goes to a file in memory. In that a quotation mark is written twice.
set -eu

line() {
  printf '"%s" "%s"\n' "$1" "$(printf '%s' "$2" | sed 's/"/""/g')"
}
umask 077
line "graph_authenticator" "$AUTHENTICATOR_PASSWORD" >/run/pgbouncer/userlist.txt
# Where the OAuth server has a login role of its own.
if [ -n "${OAUTH_AUTHENTICATOR_PASSWORD:-}" ]; then
  line "graph_oauth_authenticator" "$OAUTH_AUTHENTICATOR_PASSWORD" >>/run/pgbouncer/userlist.txt
fi
unset AUTHENTICATOR_PASSWORD OAUTH_AUTHENTICATOR_PASSWORD
exec pgbouncer /etc/pgbouncer/pgbouncer.ini
