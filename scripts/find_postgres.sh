#!/bin/sh
# Print the folder with PostgreSQL's initdb, pg_ctl and postgres: 15 or newer. On Debian and Ubuntu,
# as root, install them if there are none.
set -u

find_postgres() {
    for pg_ctl in "$(command -v pg_ctl)" /usr/lib/postgresql/*/bin/pg_ctl \
        /opt/homebrew/opt/postgresql*/bin/pg_ctl; do
        folder=$(dirname "$(readlink -f "$pg_ctl" 2>/dev/null || echo "$pg_ctl")")
        version=$("$folder/postgres" --version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\).*/\1/')
        if [ "${version:-0}" -ge 15 ] && [ -x "$folder/initdb" ]; then
            echo "$folder"
            return
        fi
    done
    return 1
}

install_postgres() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "No PostgreSQL 15 or newer found: installing Debian's."
    export DEBIAN_FRONTEND=noninteractive
    # Only the programs: no server of Debian's own is to start.
    apt-get -qq update && apt-get -qq install -y --no-install-recommends postgresql-common &&
        sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' \
            /etc/postgresql-common/createcluster.conf &&
        apt-get -qq install -y --no-install-recommends postgresql
} >&2

find_postgres || { install_postgres && find_postgres; } || {
    echo "The pipeline needs PostgreSQL 15 or newer, and could not install it." >&2
    echo "Hint: install it (Debian, Ubuntu: sudo apt-get install postgresql;" \
        "macOS: brew install postgresql@17), then run make again." >&2
    exit 1
}
