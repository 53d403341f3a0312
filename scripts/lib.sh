# shellcheck shell=bash
# What scripts/run, scripts/test and scripts/sandbox share. Everything here speaks on stderr only, asks nothing, and
# returns at once when there is nothing to do.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build
venv=$build/venv

say() { printf 'sluice: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Runs a command while holding the lock of that name, so that two scripts at once do not build in each other's way.
# The command gets no copy of the lock: a compiler cache's server that outlives it would keep it.
locked() {
    local name=$1
    shift
    mkdir -p "$build"
    (
        flock 9
        "$@" 9>&-
    ) 9>"$build/$name.lock"
}

# --- Debian packages

wanted_packages() {
    local purpose
    for purpose; do sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$root/scripts/deps/$purpose"; done | sort -u
}

missing_packages() {
    local wanted
    mapfile -t wanted < <(wanted_packages "$@")
    comm -23 <(printf '%s\n' "${wanted[@]}") \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort -u)
}

# install_packages PURPOSE...: what scripts/deps/PURPOSE lists and this machine lacks.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] && return 0
    say "installing Debian packages: ${missing[*]}"
    if [ "$(id -u)" -eq 0 ]; then
        "$root/scripts/deps/install" "${missing[@]}"
    elif sudo -n true 2>/dev/null; then
        sudo -n "$root/scripts/deps/install" "${missing[@]}"
    else
        say "these packages need root, and sudo would ask for a password. As root, run: $root/scripts/deps/install ${missing[*]}"
        return 1
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] || { say "could not install: ${missing[*]}"; return 1; }
}

# --- the program

configure() {
    local dir=$build/$1
    if [ -f "$dir/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
        say "build/$1 was made for another folder: starting it anew"
        rm -rf "$dir"
    fi
    if [ ! -f "$dir/build.ninja" ] || [ "$root/CMakePresets.json" -nt "$dir/build.ninja" ]; then
        (cd "$root" && cmake --preset "$1") >&2
    fi
}

compile() {
    configure "$1" || return
    ninja -k 0 -C "$build/$1" 2>&1 | sed -u -e '/Entering directory/d' -e '/Re-checking globbed/d' -e '/no work to do/d' >&2
}

# build_preset NAME: configures when needed and builds build/NAME; silent when it is up to date.
build_preset() { locked "$1" compile "$1"; }

# --- what the services need besides Debian's packages

# stamp FILE: what a stamp of this list says; also of where it was installed, since venvs do not move.
stamp() { echo "$(sha256sum <"$1") $build"; }
fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$(stamp "$2")" ]; }

make_venv() {
    local python list=$root/tests/requirements.txt
    fresh "$venv/stamp" "$list" && "$venv/bin/python" -c '' 2>/dev/null && return 0
    python=$(PATH=/usr/bin:$PATH command -v python3.11 || PATH=/usr/bin:$PATH command -v python3) || { say "no python3"; return 1; }
    say "installing Python packages into build/venv"
    rm -rf "$venv"
    "$python" -m venv "$venv" >&2 || return 1
    "$venv/bin/python" -m pip install --disable-pip-version-check --require-hashes -r "$list" >&2 || return 1
    stamp "$list" >"$venv/stamp"
}

# npm_packages SOURCE NAME LOG: what SOURCE's lock file lists, into build/NAME.
npm_packages() {
    local source=$root/$1 target=$build/$2 log=$build/log/$3
    fresh "$target/stamp" "$source/package-lock.json" && return 0
    say "installing npm packages into build/$2"
    mkdir -p "$target" "$build/log"
    cp "$source/package.json" "$source/package-lock.json" "$target/"
    (cd "$target" && PATH=$venv/bin:$PATH npm ci --ignore-scripts --no-audit --no-fund 2>&1) | tee "$log" >&2 || return 1
    stamp "$source/package-lock.json" >"$target/stamp"
}

make_oidc() { npm_packages tests/services/oidc oidc npm.log; }
make_ajv() { npm_packages tests/schemas/ajv ajv npm-ajv.log; }

make_nessie() { services_python -m tests.services.nessie; }

# services_python ARGUMENTS: the Python of build/venv with this repository's modules, whatever the current folder holds.
services_python() { PYTHONPATH=$root PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" -P "$@"; }
