#!/bin/sh
# Runs the CPU tests with each instruction set that LibTorch can be limited to. Allocations must not depend on the
# processor, so every test must pass with each.
#
#   tools/gpu/processors.sh [--build DIR] [--out DIR] [--only REGEX]
#
# Build and results as for check.sh; needs no GPU. A Xeon with AMX covers all limits. Skips missing tests. Takes 8
# minutes on 16 cores.
title="CPU tests by instruction set"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"

limits="none ONEDNN_MAX_CPU_ISA=AVX2 ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16
  ONEDNN_MAX_CPU_ISA=AVX512_CORE_AMX"
# Longest first; without tests of processor time.
patterns="llama_technique_plans_test llama_test test_cli_torch llama_*_test live_test live_plan_test engine_test
  gpu_prediction_test ways_out_test experiments_test kernels_*test"

tests=
for pattern in $patterns; do
  for file in "$build"/tests/bin/$pattern; do
    name=$(basename "$file")
    case " $tests " in *" $name "*) continue ;; esac
    case $name in *_gpu_test) continue ;; esac
    [ -x "$file" ] && wanted "$name" && tests="$tests $name"
  done
done
[ -n "$tests" ] || { echo "$0: $build/tests/bin has none of the tests." >&2; exit 2; }

# Tests read repository files by the path they were built with.
for name in $tests; do
  file=$(grep -aohm1 '/[[:alnum:]/_.-]*/tests/llama/reference/make_reference\.py' "$build/tests/bin/$name" | head -n 1)
  [ -n "$file" ] && break
done
built_in=${file%/tests/llama/reference/make_reference.py}
if [ -n "$built_in" ] && [ ! -e "$file" ]; then
  { mkdir -p "$(dirname "$built_in")" && ln -s "$root" "$built_in"; } || {
    echo "$0: the tests were built in $built_in; make that path a link to $root." >&2; exit 2; }
fi

jobs=$(nproc)
# Two threads each, because most of a test runs in one. (After nproc, which obeys this.)
export OMP_NUM_THREADS=2
bin=$build/tests/bin results=$out/logs
export bin results
rm -f "$results"/*.code
# shellcheck disable=SC2016  # the inner shell expands
for test in $tests; do
  for limit in $limits; do echo "$limit $test"; done
done | xargs -n 2 -P "$jobs" sh -c '
  limit=$1; [ "$limit" = none ] && limit=
  # shellcheck disable=SC2086  # without a limit there is no word
  env $limit timeout 450 "$bin/$2" >"$results/$2.$1.log" 2>&1
  echo $? >"$results/$2.$1.code"' sh

code_of() { cat "$results/$1.$2.code" 2>/dev/null || echo "not run"; }

# all_passed LIMIT: prints the ends of failed tests' logs.
all_passed() {
  failed=0
  for test in $tests; do
    [ "$(code_of "$test" "$1")" = 0 ] && continue
    failed=1
    echo "== $test =="
    tail -n 30 "$results/$test.$1.log"
  done
  return $failed
}
only=  # filters tests, not these lines
for limit in $limits; do step "$limit" all_passed "$limit"; done

{
  echo
  echo "On $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores:"
  echo
  head='| test |' line='|---|'
  for limit in $limits; do head="$head $limit |" line="$line---|"; done
  printf '%s\n%s\n' "$head" "$line"
  for test in $tests; do
    printf '| %s |' "$test"
    for limit in $limits; do
      code=$(code_of "$test" "$limit")
      [ "$code" = 0 ] && code=passed
      printf ' %s |' "$code"
    done
    echo
  done
} >>"$summary"
finish
