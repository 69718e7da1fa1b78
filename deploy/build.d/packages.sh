# Installs missing system packages by apt. Sourced by deploy/build.

wanted_packages() {
  echo ca-certificates curl git g++ cmake ninja-build ccache pkg-config python3 python3-venv
  echo libgit2-dev libsqlite3-dev libcurl4-openssl-dev libarchive-dev libssl-dev
  echo libxml2-dev zlib1g-dev libre2-dev
  echo nlohmann-json3-dev libspdlog-dev libfmt-dev libcli11-dev libtomlplusplus-dev catch2
  local boost=
  if [[ $VERSION_CODENAME == bookworm ]]; then boost=1.81; fi
  echo "libboost$boost-dev" "libboost-url$boost-dev"
  if [[ $with_tests == yes ]]; then
    echo jq                      # documents' commands use it
    echo prometheus              # its promtool reads our metrics
    echo dpkg-dev systemd man-db # packages are made, installed in a scratch root, and looked at
    # Pilots run on a real Slurm, which a test configures and starts.
    echo slurmctld slurmd slurm-client
    # A proxy in front of the service asks agents for certificates.
    echo nginx-light openssl
    # The pages are looked at in a browser. Ubuntu has none as a package: there the tests skip.
    if [[ $ID == debian ]]; then echo chromium chromium-driver fonts-dejavu-core; fi
  fi
  if [[ ${preset-} == fuzz ]]; then
    local clang
    clang=$(clang_version)
    echo "clang-$clang" "libclang-rt-$clang-dev" "libfuzzer-$clang-dev" "llvm-$clang"
  fi
  # torch.compile needs Python's headers, which a Python of one's own has.
  if ! has_python_headers; then echo python3-dev; fi
  # Any npm will do; NodeSource's nodejs has one.
  if [[ $with_tests == yes ]] && ! command -v npm >/dev/null; then echo npm; fi
}

# Debian 12 has 16 beside its usual clang, 14, which does not know standard coroutines.
clang_version() {
  # shellcheck source=/dev/null
  (source /etc/os-release; case $VERSION_CODENAME in bookworm) echo 16 ;; *) echo 19 ;; esac)
}

has_python_headers() {
  local folder
  folder=$("$(base_python)" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
  [[ -f $folder/Python.h ]]
}

is_installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == "install ok installed" ]]; }

ensure_packages() {
  [[ -r /etc/os-release ]] ||
    fail "this is no Debian or Ubuntu; install the packages of deploy/build.d/packages.sh by hand"
  # shellcheck source=/dev/null
  source /etc/os-release
  local missing=() package
  for package in $(wanted_packages); do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all there"
    return
  fi
  install_packages "${missing[@]}"
  say "${#missing[@]} installed"
}

install_packages() {
  command -v apt-get >/dev/null || fail "no apt-get here; install by hand: $*"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "run as root: apt-get install $*"
    as_root=(sudo)
  fi
  # No package may start a daemon here, as Slurm's would: apt obeys this file.
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    # shellcheck disable=SC2064
    trap "${as_root[*]} rm -f $policy" EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
    "${as_root[@]}" chmod 755 $policy
  fi
  # The lists of a fresh machine are empty or old.
  "${as_root[@]}" apt-get -q update || echo "apt-get update failed; trying with the lists there are"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y install --no-install-recommends "$@" ||
    fail "apt-get cannot install: $*"
}
