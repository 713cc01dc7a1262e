#!/usr/bin/env bash
# Loads files of real clusters, saves them in each format, loads these, and compares all objects field by
# field:
#
#   tests/realcluster/round_trip.sh FOLDER...
#
# Takes every etcd.db, k8s.yaml, get.json, get.yaml, raw-*list.json and member-snap-db below the folders, also
# compressed. Where an etcd.db and a k8s.yaml lie beside each other, what kwok saved of the one is compared
# with what `snapshot convert` makes of the other, which may differ in what moves all the time.
# Folders that are not there are skipped with a word. Exit code 1 if a file does not come back as it was.
set -euo pipefail

[[ $# -gt 0 ]] || { echo "usage: tests/realcluster/round_trip.sh FOLDER..." >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
schedsim=${SCHEDSIM_PROGRAM:-$here/../../build/dev/tools/schedsim}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
code=0
files=0
moved=0
convert() { "$schedsim" snapshot convert "$@" 2> "$scratch/errors" || { cat "$scratch/errors"; return 1; }; }
for folder; do
  if [[ ! -d $folder ]]; then
    echo "skipped: $folder is not there"
    continue
  fi
  while IFS= read -r file; do
    files=$((files + 1))
    convert "$file" "$scratch/first.json" || { echo "$file: not read"; code=1; continue; }
    for name in again.yaml again.db again.json; do
      versions=--versions
      [[ $name != again.yaml ]] || versions=
      # shellcheck disable=SC2086
      if ! { convert "$scratch/first.json" "$scratch/$name" &&
        convert "$scratch/$name" "$scratch/second.json" &&
        "$here/same_objects.py" $versions "$scratch/first.json" "$scratch/second.json" \
          > "$scratch/found"; }; then
        cat "$scratch/found"
        echo "$file: differs by $name"
        code=1
      fi
    done
    k8s=$(dirname "$file")/k8s.yaml
    for beside in "$k8s" "$k8s.gz" "$k8s.xz"; do
      [[ $(basename "$file") == etcd.db* && -e $beside ]] || continue
      convert "$beside" "$scratch/kwok.json"
      "$here/same_objects.py" --kinds-of-second "$scratch/first.json" "$scratch/kwok.json" \
        > "$scratch/found" || {
        cat "$scratch/found"
        echo "$file: differs from $(basename "$beside")"
        moved=$((moved + 1))
      }
    done
  done < <(find "$folder" -type f \( -name 'etcd.db*' -o -name 'k8s.yaml*' -o -name 'get.json*' -o \
    -name 'get.yaml*' -o -name 'raw-*list.json*' -o -name 'member-snap-db*' \) | LC_ALL=C sort)
done
echo "$files files compared; $moved databases differ from the text that kwok saved beside them"
exit $code
