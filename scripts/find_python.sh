#!/bin/sh
# Print the Python to build the virtual environment with: 3.11 or newer, able to make one.
# On Debian and Ubuntu, as root, install it if there is none.
set -u

find_python() {
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        # Debian's python3 lacks ensurepip, and so cannot make environments, without python3-venv.
        check='import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))'
        if "$python" -c "$check" 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    return 1
}

install_python() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "No usable Python found: installing Debian's."
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-venv
} >&2

find_python || { install_python && find_python; } || {
    echo "Windrow needs Python 3.11 or newer with its venv module; none is on the PATH." >&2
    echo "Hint: install it (Debian, Ubuntu: sudo apt-get install python3-venv;" \
        "macOS: brew install python), then run make again." >&2
    exit 1
}
