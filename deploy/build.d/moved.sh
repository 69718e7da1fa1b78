# Repairs what a copied or moved checkout breaks: folders that hold their own absolute path. Sourced
# by deploy/build.

# drop_foreign_build FOLDER SOURCE: removes a build folder that CMake configured elsewhere, or for
# other sources.
drop_foreign_build() {
  local settings=$1/CMakeCache.txt folder source
  [[ -f $settings ]] || return 0
  folder=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$settings")
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$settings")
  if [[ $folder -ef $1 && $source -ef $2 ]]; then return; fi
  note "${1#"$root"/} was configured for the checkout $source; it is made again"
  rm -rf "$1"
}

# rebase_venv FOLDER: makes the scripts of a virtual environment name its present folder. Its
# packages stay, so this needs no network.
rebase_venv() {
  [[ -f $1/pyvenv.cfg ]] || return 0
  local made
  made=$(sed -n 's/^command = .* -m venv \(--[a-z-]* \)*//p' "$1/pyvenv.cfg")
  if [[ -z $made || $made -ef $1 ]]; then return; fi
  "$(base_python)" - "$made" "$1" <<'PYTHON'
import pathlib
import sys

made, now = (text.encode() for text in sys.argv[1:])
folder = pathlib.Path(sys.argv[2])
for file in [folder / "pyvenv.cfg", *(folder / "bin").iterdir()]:
    if file.is_file() and not file.is_symlink() and made in (text := file.read_bytes()):
        file.write_bytes(text.replace(made, now))
PYTHON
  note "${1#"$root"/} was made in $made; its scripts name this checkout now"
}
