#!/bin/sh
# The password comes by the environment and goes to a file in memory. In that a quotation mark is written twice.
set -eu

password=$(printf '%s' "$AUTHENTICATOR_PASSWORD" | sed 's/"/""/g')
umask 077
printf '"graph_authenticator" "%s"\n' "$password" >/run/pgbouncer/userlist.txt
unset AUTHENTICATOR_PASSWORD
exec pgbouncer /etc/pgbouncer/pgbouncer.ini
