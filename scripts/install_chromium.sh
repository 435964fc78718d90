#!/bin/sh
# Install Chromium with apt-get, as root on Debian; elsewhere say what to do.
set -eu
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    wait='-o DPkg::Lock::Timeout=600'
    apt-get -qq $wait update >&2
    apt-get -qq $wait install -y --no-install-recommends chromium fonts-dejavu-core >&2
    exit
fi
echo "The tests of the live view need Chromium: install it, so that \`chromium\` is on the PATH." >&2
exit 1
