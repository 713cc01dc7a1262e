#!/usr/bin/env bash
# Builds the recorder:
# build.sh --line 1.37 [--with PACKAGE@VERSION|FOLDER]... [--import PACKAGE[@VERSION]]... [-o FILE]
# README.md says what it takes. Needs Go 1.26 and the Go module proxy.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
from=$PWD
cd "$here"
exec go run ./build -source "$here" -from "$from" "$@"
