#!/usr/bin/env bash
# The steps of ./run, which sources this file in the repository's root.

say() { printf '%s\n' "$*" >&2; }
stop() {
  say "$*"
  exit 2
}

# Sets build (folder), sets (of tools/deps.lock.json), jobs and configure (CMake's arguments).
choose_build() {  # LIGHT: light if not empty, otherwise from HEADROOM_PRESET and CI
  local preset=${HEADROOM_PRESET:-default}
  [ "${CI:-}" = true ] && preset=${HEADROOM_PRESET:-ci}
  [ -n "$1" ] && preset=light
  case $preset in
    default | ci) build=build ;;
    *) build=build/$preset ;;
  esac
  configure=(--preset "$preset")
  [[ ${CI:-} == true && $preset == light ]] && configure+=(-DHEADROOM_WERROR=ON)
  sets=(window)
  case $preset in
    light | asan | tsan) ;;
    *)
      sets+=(engine)
      has_nvcc || sets+=(toolkit)
      ;;
  esac
  # Compilers of torch code take up to 1.4 GiB.
  local memory cores
  memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  cores=$(nproc)
  jobs=${HEADROOM_JOBS:-$((memory < cores ? (memory > 0 ? memory : 1) : cores))}
}

# True if the system has nvcc of CUDA 13; same search order as cmake/CudaKernels.cmake.
has_nvcc() {
  local nvcc
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc /usr/local/cuda-13.0/bin/nvcc; do
    if [ -x "$nvcc" ]; then
      "$nvcc" --version 2>/dev/null | grep -q 'release 13\.'
      return
    fi
  done
  return 1
}

# Tools, libraries, and the window's run-time dependencies.
packages=(cmake ninja-build g++ pkg-config git
  libfmt-dev nlohmann-json3-dev libcli11-dev libzstd-dev libpcre2-dev libcairo2-dev libpango1.0-dev catch2
  libfreetype-dev libgl-dev libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev
  libgl1 libegl1 libopengl0 libgl1-mesa-dri libegl-mesa0)

# Prints missing packages in one line; pip only if something must be fetched.
missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local wanted=("${packages[@]}")
  if ! python3 tools/fetch.py status "${sets[@]}" >/dev/null; then
    python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)
  fi
  # One dpkg-query for all packages.
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | awk '$1 == "installed" { print $2 }' || true)
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort) <(printf '%s\n' "$installed" | sort) | tr '\n' ' '
}

# Reports missing parts and their fixes; false if there are any.
report_missing() {
  local list fetched complete=yes
  command -v dpkg-query >/dev/null || say "This is not Debian or Ubuntu: CMake itself will name a missing library."
  list=$(missing_packages)
  if [ -n "$list" ]; then
    say "Missing packages: $list"
    say "  fix: $(install_command "$list")"
    complete=
  fi
  if [ "$(uname -m)" != x86_64 ] && [ -z "$light" ]; then
    say "LibTorch is available for x86_64 only; this machine is $(uname -m)."
    say "  fix: ./run --light (no live runs)"
    complete=
  fi
  if ! fetched=$(python3 tools/fetch.py status "${sets[@]}"); then
    say "Not fetched yet:"
    say "${fetched//$'\n'/$'\n'  }"
    say "  fix: ./run${light:+ --light}"
    complete=
  fi
  [ -n "$complete" ]
}

install_command() {
  printf '%sapt-get install -y --no-install-recommends %s' "$([ "$(id -u)" = 0 ] || printf 'sudo ')" "${1% }"
}

install_packages() {
  local list answer sudo=()
  list=$(missing_packages)
  [ -n "$list" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    sudo=(sudo)
    answer=no
    if [ -t 0 ] && command -v sudo >/dev/null; then
      say "Headroom needs these packages: $list"
      read -r -p "Install them now with sudo apt-get? [y/N] " answer || answer=no  # no at the end of input
    fi
    [[ $answer == [yY]* ]] || stop "Packages are missing. Install them with the next line, then run this again:
  $(install_command "$list")"
  fi
  say "1/4 packages: $list"
  # Package lists may be missing or outdated.
  # shellcheck disable=SC2086
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get update -q && exec apt-get install -q -y --no-install-recommends "$@"' apt $list >"$log" 2>&1 ||
    stop "apt-get failed. Its last lines:
$(tail -n 5 "$log")
Fix that (the whole output is in $log), then run this again."
}

fetch() {
  python3 tools/fetch.py status "${sets[@]}" >/dev/null || say "2/4 downloads"
  python3 tools/fetch.py get "${sets[@]}" || exit $?
}

set_up() {
  command -v python3 >/dev/null || stop "python3 is missing. Install it with: apt-get install python3"
  [ "$(uname -m)" = x86_64 ] || [ -n "$light" ] ||
    stop "LibTorch is available for x86_64 only; this machine is $(uname -m). './run --light' works here, without live runs."
  mkdir -p build
  log=$PWD/build/setup.log
  part packages install_packages
  part downloads fetch
}

# part NAME COMMAND…: runs the command and records its seconds.
parts=
part() {
  local name=$1 start=$SECONDS
  shift
  "$@"
  [ $((SECONDS - start)) -lt 2 ] || parts="$parts${parts:+, }$name $((SECONDS - start)) s"
}

parts_taken() { [ -z "$parts" ] || say "Set up: $parts."; }

# build all|product. CMake starts afresh after a change of preset or toolkit or a move of the tree, because its cache
# keeps old settings and paths.
build() {
  local targets=()
  [ "$1" = product ] && targets=(product)
  part configuring configure_build
  part building run_ninja "${targets[@]}"
  parts_taken
}

configure_build() {
  local stamp="$build/.configured" wanted fresh=()
  wanted="$PWD ${configure[*]} ${sets[*]} $(cksum <CMakePresets.json)"
  [ ! -f "$build/build.ninja" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  [ -f "$stamp" ] && fresh=(--fresh)
  say "3/4 configuring"
  cmake "${fresh[@]}" "${configure[@]}" >"$log" 2>&1 || stop "Configuring failed. Its last lines:
$(grep -v '^$' "$log" | tail -n 25)
The whole output is in $log."
  printf '%s\n' "$wanted" >"$stamp"
}

# Ninja's output goes to the log, progress to the terminal.
run_ninja() {
  NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$jobs" "$@" 2>&1 |
    python3 tools/progress.py "4/4 building" "$log" "$build" "$@" ||
    stop "The build failed:
$(grep -A 30 -m 3 '^FAILED' "$log" || tail -n 30 "$log")
The whole output is in $log; ./run doctor lists what this machine lacks."
}
