#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles once what several Verilator models are made of: Verilator's own runtime, most of the time a small model takes to
# build, and what Verilator makes of a design that tests build several times. For Verilator's OBJCACHE:
#
#   OBJECT_CACHE=DIRECTORY OBJCACHE="sh object-cache.sh" verilator --build ...
#
# The runtime depends on nothing but its source and the options (all of them but where to look for the model's own headers and
# where to write), and a directory is for one run with one compiler. What Verilator makes depends on the files it makes as well,
# which are all in the current directory. Everything else is compiled as ever, and so is everything where the directory cannot
# be used.
#
# Verilator optimises for size unless a build says otherwise: what a test builds so runs for a moment, and is not optimised at all.
set -eu

for word in "$@"; do
  shift
  if [ "$word" = -Os ]; then word=-O0; fi
  set -- "$@" "$word"
done

source='' output='' options='' previous='' made=''
for word in "$@"; do
  case $word in
    -o | -I*) ;;
    *)
      if [ "$previous" = -o ]; then output=$word; else options="$options $word"; fi
      ;;
  esac
  case $word in
    */include/verilated*.cpp) source=$word ;;
    */*) ;;
    *__*.cpp) source=$word made=yes ;;
  esac
  previous=$word
done
# Debug information names the directory.
case "$made $options " in yes*' -g'*) source='' ;; esac
if [ ! -d "${OBJECT_CACHE:-}" ] || [ -z "$source" ] || [ -z "$output" ]; then
  exec "$@"
fi
if [ "$made" ]; then
  files=$(cat ./*.h ./*.cpp 2> /dev/null | sha256sum) || exec "$@"
  options="$options $files"
fi

kept=$OBJECT_CACHE/$(basename "$source" .cpp)-$(echo "$options" | cksum | tr ' ' -)
if [ -f "$kept.o" ] && [ "$(cat "$kept.options")" = "$options" ] && cp "$kept.o" "$output"; then
  exit
fi
"$@"
# Under separate names first: another compiler may do the same now.
{
  echo "$options" > "$kept.$$.options" && cp "$output" "$kept.$$.o" &&
    mv "$kept.$$.options" "$kept.options" && mv "$kept.$$.o" "$kept.o"
} 2> /dev/null || rm -f "$kept.$$.options" "$kept.$$.o"
