# Compiles the program nightjar as one static file, see deploy/static. Sourced by deploy/build and
# deploy/wheel.

# Three libraries, all of them headers only.
one_file_packages() {
  echo cmake ninja-build python3 nlohmann-json3-dev libcli11-dev
  # shellcheck source=/dev/null
  source /etc/os-release
  if [[ $VERSION_CODENAME == bookworm ]]; then echo libboost1.81-dev; else echo libboost-dev; fi
}

# A folder with these headers alone, since those of another C library stand beside them.
header_folder() {
  local folder=$cache/headers name
  mkdir -p "$folder"
  for name in boost nlohmann CLI; do ln -sfn "/usr/include/$name" "$folder/$name"; done
  echo "$folder"
}

# compile_one_file FOLDER [CMAKE-OPTION ...]
compile_one_file() {
  local folder=$1 launcher=()
  shift
  drop_foreign_build "$folder" "$root/deploy/static"
  if command -v ccache >/dev/null; then
    launcher=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR=$root;CCACHE_NOHASHDIR=1;ccache")
  fi
  cmake -S deploy/static -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG "-DNIGHTJAR_HEADERS=$(header_folder)" "${launcher[@]}" \
    ${NIGHTJAR_WERROR:+-DNIGHTJAR_WERROR=$NIGHTJAR_WERROR} "$@"
  nice -n 5 ninja -C "$folder" -j "${NIGHTJAR_JOBS:-$(nproc)}"
  local size
  size=$(stat -c %s "$folder/bin/nightjar")
  say "${folder#"$root"/}/bin/nightjar, $((size / 1000)) kB"
}
