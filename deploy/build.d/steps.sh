# Runs steps with progress, a log each, and one clear line on failure. Sourced by deploy/build.

refuse() {
  echo "${program:-deploy/build}: $1" >&2
  exit 2
}

# fail TEXT: ends the step and shows TEXT instead of the log's last line.
fail() {
  echo "nightjar-failure: $1"
  exit 3
}

# note TEXT: shows TEXT after all steps.
note() { echo "$1" >>"$cache/log/notes.new"; }

# begin LOG FUNCTION: runs FUNCTION beside what follows. `step TITLE LOG` waits for it.
declare -A begun=() begun_at=()
begin() {
  local name=$1 log=$cache/log/$1.log
  begun_at[$name]=$SECONDS
  set -m  # a process group, so that all of it can be ended
  (
    set -e
    trap 'echo "nightjar-took: $((SECONDS - begun_at[$name]))"' EXIT
    "$2"
  ) >"$log" 2>&1 &
  begun[$name]=$!
  set +m
}
end_begun() {
  local name
  for name in "${!begun[@]}"; do kill -- "-${begun[$name]}" 2>/dev/null || true; done
}
trap end_begun EXIT

# step TITLE LOG FUNCTION: runs FUNCTION with its output in .cache/log/LOG.log.
step() {
  local title=$1 log=$cache/log/$2.log start=${begun_at[$2]-$SECONDS} status=0 watcher=
  printf '%-28s' "$title"
  if [[ -t 1 ]]; then
    (while sleep 1; do printf '\r%-28s%4d s' "$title" $((SECONDS - start)); done) &
    watcher=$!
  fi
  # A subshell keeps errexit on inside the function; `||` would switch it off.
  set +e
  if [[ -v begun[$2] ]]; then
    wait "${begun[$2]}"
  else
    (set -e; "$3") >"$log" 2>&1
  fi
  status=$?
  unset "begun[$2]"
  set -e
  if [[ -n $watcher ]]; then
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    printf '\r%-28s' "$title"
  fi
  if ((status != 0)); then
    echo "failed"
    local line
    line=$(sed -n 's/^nightjar-failure: //p' "$log" | tail -n 1)
    [[ -n $line ]] || line="$({ grep -v '^nightjar-took: ' "$log" || true; } | tail -n 1)"
    echo "${program:-deploy/build}: $title: $line (log: ${log#"$root"/})" >&2
    exit 3
  fi
  local said took
  said=$(sed -n 's/^nightjar-said: //p' "$log" | tail -n 1)
  took=$(sed -n 's/^nightjar-took: //p' "$log" | tail -n 1)
  printf '%4d s  %s\n' "${took:-$((SECONDS - start))}" "${said:-done}"
}

# say TEXT: shows TEXT behind the finished step.
say() { echo "nightjar-said: $1"; }

# done_already STAMP CONTENT: whether the file STAMP holds CONTENT.
done_already() { [[ -f $1 && $(<"$1") == "$2" ]]; }

show_notes() {
  if [[ -s $cache/log/notes.new ]]; then
    sed 's/^/note: /' "$cache/log/notes.new"
    rm -f "$cache/log/notes.new"
  fi
}
rm -f "$cache/log/notes.new"
