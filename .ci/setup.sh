# shellcheck shell=bash
# Sourced by examples/run, examples/mpi/run, tests/run and .ci/run: find what a build needs, install what is missing, build.
#
#   need <thing>...                  things of the table below; exits with 2 if one is missing and cannot be installed
#   build <name> <cmake option>...   configure and build in build/<name>, incrementally; sets build_dir.
#                                    With `target` set, only that is built
#   progress <what>                  pass output of make, ninja or ctest on, less the lines that say how far it is:
#                                    these become one line that moves on a terminal, and few lines elsewhere
#
# A script that sources this takes --no-install as its first argument: then what is missing is only named.
# All is said on stderr: stdout belongs to the program that the caller runs in the end.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=

# free_memory: in MB, of the machine or of the container.
free_memory() {
    {
        if [ -r /proc/meminfo ]; then
            awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
        else
            echo $(($(sysctl -n hw.memsize) / 1048576))
        fi
        awk '/^[0-9]/ { print int($1 / 1048576) }' /sys/fs/cgroup/memory.max || :
    } 2>/dev/null | sort -n | head -n 1
}

# One job per core, and 2.5 GB for each: no compiler takes more, unless it is told that there is room for 5 GB.
jobs=$(getconf _NPROCESSORS_ONLN)
memory=$(free_memory)
roomy=OFF
if [ $((${memory:-2500} / 5000)) -ge "$jobs" ]; then roomy=ON; fi
if [ $((${memory:-2500} / 2500)) -lt "$jobs" ]; then jobs=$((${memory:-2500} / 2500)); fi
if [ "$jobs" -lt 1 ]; then jobs=1; fi

no_install=
if [ "${1-}" = --no-install ]; then
    no_install=$1
    shift
fi

say() { printf 'specsample: %s\n' "$*" >&2; }

# thing    apt               dnf                     pacman     brew
packages='
compiler   g++               gcc-c++                 gcc        gcc
cmake      cmake             cmake                   cmake      cmake
make       make              make                    make       make
eigen      libeigen3-dev     eigen3-devel            eigen      eigen
catch2     catch2            catch-devel             catch2     catch2
benchmark  libbenchmark-dev  google-benchmark-devel  benchmark  google-benchmark
doxygen    doxygen           doxygen                 doxygen    doxygen
mpi        libopenmpi-dev    openmpi-devel           openmpi    open-mpi
python     python3           python3                 python     python
pip        python3-pip       python3-pip             python-pip python
'

# names <column> <thing>...: what these things are called there.
names() {
    local column=$1 thing
    shift
    for thing; do awk -v thing="$thing" -v column="$column" '$1 == thing { printf "%s ", $column }' <<<"$packages"; done
}

# usable <compiler>: does it speak the C++20 that the headers use, with a standard library to match?
usable() {
    $1 -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1 <<'EOF'
#include <concepts>
#if defined(__clang__) ? __clang_major__ < 16 : __GNUC__ < 12
#error
#endif
EOF
}

# CXX if it is set; else the default compiler; else the first newer one beside it, which is then exported as CXX.
find_compiler() {
    local candidate
    if [ -n "${CXX-}" ]; then
        usable "$CXX" && return
        say "CXX=$CXX is not a C++20 compiler (g++ 12, clang 16 or newer)"
        exit 2
    fi
    usable c++ && return
    for candidate in g++ clang++ {g++-{15,14,13,12},clang++-{20,19,18,17,16}}; do
        if usable "$candidate"; then
            export CXX=$candidate
            return
        fi
    done
    return 1
}

# find_package <name> <version>: ask CMake, since it is who will look.
find_package() {
    local probe found=no
    probe=$(mktemp -d)
    cat >"$probe/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.22)
project(probe CXX)
find_package($1 REQUIRED NO_MODULE)
if($1_VERSION VERSION_LESS $2)
    message(FATAL_ERROR "too old")
endif()
EOF
    if cmake -S "$probe" -B "$probe/build" >/dev/null 2>&1; then found=yes; fi
    rm -r "$probe"
    [ $found = yes ]
}

# has <thing>: without a compiler or CMake nobody can find a library, so then it counts as missing too.
has() {
    case $1 in
        compiler) find_compiler ;;
        cmake) command -v cmake >/dev/null && { echo 3.22; cmake --version | awk 'NR == 1 { print $3 }'; } | sort -VC ;;
        make) command -v make >/dev/null || { command -v ninja >/dev/null && export CMAKE_GENERATOR=Ninja; } ;;
        eigen) find_package Eigen3 3.4 ;;
        catch2) find_package Catch2 2.13 ;;
        benchmark) find_package benchmark 1.6 ;;
        doxygen) command -v doxygen >/dev/null ;;
        mpi) command -v mpicxx >/dev/null && command -v mpirun >/dev/null ;;
        python) python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null ;;
        pip) python3 -c 'import pip' 2>/dev/null || python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    esac
}

# apt_install <package>...: what apt says is kept in build/install.log.
apt_install() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
    [ "$(id -u)" = 0 ] || apt=(sudo "${apt[@]}")
    mkdir -p "$root/build"
    {
        "${apt[@]}" install -y --no-install-recommends "$@" ||
            { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; }
    } </dev/null >"$root/build/install.log" 2>&1
}

need() {
    local thing missing wanted tried=
    while :; do
        missing=()
        for thing; do has "$thing" || missing+=("$thing"); done
        [ ${#missing[@]} -gt 0 ] || return 0

        wanted=$(names 2 "${missing[@]}")
        # A g++ that is there and not good enough: Ubuntu 22.04 has version 11, and 12 under a name of its own.
        if command -v g++ >/dev/null; then wanted=${wanted/g++ /g++-12 }; fi

        if [ -n "$no_install" ] || [ "$wanted" = "$tried" ] || ! command -v apt-get >/dev/null; then
            break
        fi
        tried=$wanted
        say "installing $wanted"
        # shellcheck disable=SC2086  # a list of words
        apt_install $wanted || { tail -n 5 "$root/build/install.log" >&2; break; }
    done
    say "missing: ${missing[*]}"
    say "  wanted: g++ 12 or clang 16, CMake 3.22, make or ninja, Eigen 3.4, Catch2 2.13, Python 3.8, or newer"
    say "  Debian, Ubuntu   apt-get install $wanted"
    say "  Fedora           dnf install $(names 3 "${missing[@]}")"
    say "  Arch             pacman -S $(names 4 "${missing[@]}")"
    say "  Homebrew         brew install $(names 5 "${missing[@]}")"
    exit 2
}

# clock <seconds>: 4:05
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# remaining <steps begun> <count> <total> <seconds>: ", about 1:05 left", or nothing where steps are too few to tell: they
# differ in length, and make names a step when it begins, so that the last `jobs` of them are not yet done.
remaining() {
    local done=$(($2 * ($1 - jobs) / $1))
    if [ "$1" -lt 20 ] || [ $((10 * done)) -gt $((9 * $3)) ]; then return; fi
    printf ', about %s left' "$(clock $(($4 * ($3 - done) / done)))"
}

progress() {
    local line count total left begun=0 start=$SECONDS shown=0
    local step='^ *\[ *([0-9]+)(%|/([0-9]+))\]'                            # make, ninja
    local test='^ *([0-9]+)/([0-9]+) +Test +#[0-9]+: .* (Passed|\*\*\*.*) '  # ctest
    while IFS= read -r line; do
        if [[ $line =~ $step ]]; then
            count=${BASH_REMATCH[1]} total=${BASH_REMATCH[3]:-100}
        elif [[ $line =~ $test ]]; then
            count=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
            if [ "${BASH_REMATCH[3]}" != Passed ]; then
                if [ -t 2 ]; then printf '\r\033[K' >&2; fi
                printf '%s\n' "$line"
            fi
        elif [[ $line =~ ^\ +Start\ +[0-9]+: ]]; then
            continue
        else
            if [ -t 2 ]; then printf '\r\033[K' >&2; fi
            printf '%s\n' "$line"
            continue
        fi
        if [ "$count" -lt 1 ]; then continue; fi
        begun=$((begun + 1))
        left=$(remaining "$begun" "$count" "$total" $((SECONDS - start)))
        if [ -t 2 ]; then
            printf '\r\033[K%.78s' "$1: $((100 * count / total)) % after $(clock $((SECONDS - start)))$left" >&2
        elif [ $((100 * count / total)) -ge $((shown + 10)) ]; then
            shown=$((100 * count / total))
            say "$1: $shown % after $(clock $((SECONDS - start)))$left"
        fi
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

build() {
    build_dir=$root/build/$1${CXX:+-${CXX##*/}}
    shift
    # CMake refuses a build folder that was copied or moved along with its checkout: start it afresh.
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build_dir/CMakeCache.txt" || rm -rf "$build_dir"
    mkdir -p "$build_dir"

    say "building in ${build_dir#"$root"/}"
    if ! { cmake -S "$root" -B "$build_dir" "$@" && cmake --build "$build_dir" --parallel "$jobs" ${target:+--target "$target"}; } 2>&1 |
        tee "$build_dir/log" | progress building >/dev/null; then
        tail -n 60 "$build_dir/log" >&2
        say "the build failed; all of it: ${build_dir#"$root"/}/log"
        exit 1
    fi
}
