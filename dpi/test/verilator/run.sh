#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs Verilator models against the fake daemon and compares what it received with what the models did.
#   run.sh DAEMON MODEL...
set -eu
daemon=$1
shift
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
expected="frames 11000 items 66300 strings 100 rejected 0 violation ''"
for model in "$@"; do
  export USCOPE_ENDPOINT="ipc://$directory/daemon.sock" USCOPE_SHM_DIR="$directory"
  "$daemon" "$USCOPE_ENDPOINT" core0 > "$directory/received" &
  "$model" > "$directory/said"
  wait $!
  received=$(cat "$directory/received")
  if [ "$received" != "$expected" ] || ! grep -q "rejected 0 last error ''" "$directory/said"; then
    echo "FAIL $model"
    echo "  got      $received"
    echo "  expected $expected"
    cat "$directory/said"
    exit 1
  fi
  echo "ok   $model"
done
