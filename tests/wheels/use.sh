# Uses the program nightjar as a person does, wherever that is installed: it has to be on the PATH,
# beside git. Prints what it says, and fails where it cannot be used.
set -eu
cd "$(mktemp -d)"
export HOME=$PWD
nightjar --version
nightjar --help | grep bisect

git config --global user.name A
git config --global user.email a@example.org
git init -q repository
for commit in 1 2 3 4 5 6 7 8 9; do
  if [ $commit -lt 6 ]; then echo 1 >repository/level; else echo 1.3 >repository/level; fi
  git -C repository add level
  git -C repository commit -q --allow-empty -m "commit $commit"
done
nightjar bisect run --repo repository --good HEAD~8 --bad HEAD \
  --measure 'awk -v seed=$$ "BEGIN {srand(seed)} {print \$1 * (1 + rand() / 50)}" level'

hyperfine() { printf '{"results": [{"command": "parse", "times": [%s]}]}' "$1"; }
hyperfine '1.00, 1.01, 1.02, 0.99, 1.00, 1.01, 1.00, 1.02' >control.json
hyperfine '1.30, 1.31, 1.32, 1.29, 1.30, 1.31, 1.30, 1.32' >treatment.json
nightjar compare --control control.json --treatment treatment.json
