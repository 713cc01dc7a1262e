#!/bin/sh
# Stands in for a recorder (docs/recorder.md): answers any case with what one wrote of cluster.yaml.
# The case goes to $FAKE_RECORDER_CASE, where that is set.
folder=$(dirname "$0")
case $1 in
describe) cat "$folder/description.json" ;;
run)
  if [ -n "$FAKE_RECORDER_CASE" ]; then cp "$2" "$FAKE_RECORDER_CASE"; fi
  if grep -q '"record":"full"' "$2"; then level=full; else level=decisions; fi
  cp "$folder/$level.jsonl" "$3"
  ;;
*) exit 2 ;;
esac
