#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the model that measures calls against a daemon that takes everything and looks at nothing.
#   bench.sh DAEMON MODEL
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export USCOPE_ENDPOINT="ipc://$directory/daemon.sock" USCOPE_SHM_DIR="$directory" USCOPE_CREDIT_MIB=64 FAKE_SINK=1
"$1" "$USCOPE_ENDPOINT" core0 > "$directory/received" &
"$2"
wait $!
