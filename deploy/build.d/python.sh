# Installs PyTorch in .cache/python, its wheel in .cache/wheels, and the tests' tools in
# .cache/tools. Sourced by deploy/build.

torch_version=2.13.0
torch_index=https://download.pytorch.org/whl/cpu
cuda_gigabytes=8  # of disk, for a CUDA build with NVIDIA's libraries
# Both have to be pinned: other versions define other models.
# torchvision needs pillow; Mask2Former and MaskFormer need scipy.
transformers="transformers==4.57.3 pillow scipy"
image_models="timm==1.0.31 torchvision==0.28.0"
uv=uv==0.13.9
# schemathesis is pinned, since a newer one may find more.
tools="pytest pytest-timeout pytest-xdist $uv openapi-schema-validator openapi-spec-validator"
tools+=" schemathesis==4.32.5"
tools+=" pandas"  # documents read the service's CSV with it
# Other versions format in other ways, and find other things. From 22 on, clang-tidy does not search
# the headers of the system, which takes half the time.
tools+=" clang-format==18.1.8 clang-tidy==22.1.8"
spelling=cspell@8.19.4
accessibility=axe-core@4.14.1  # finds what a page lacks for screen readers and keyboards
accessibility_sha256=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c

base_python() { echo "${NIGHTJAR_PYTHON:-python3}"; }

python_identity() {
  "$(base_python)" -c 'import sys; print(sys.version.split()[0], sys.base_prefix)'
}

make_venv() {
  rm -rf "$1"
  "$2" -m venv "$1" || fail "$2 cannot make a virtual environment; is python3-venv installed?"
}

imports_torch() {
  "$cache/python/bin/python" -c "
import torch
assert (torch.ones(2, 2) @ torch.ones(2, 2)).sum() == 8
import sys
print('nightjar-said:', torch.__version__, 'for Python', '.'.join(map(str, sys.version_info[:2])))"
}

ensure_torch() {
  local identity stamp=$cache/python/.nightjar
  "$(base_python)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$(base_python) is older than 3.10, which PyTorch $torch_version needs; \
set NIGHTJAR_PYTHON"
  rebase_venv "$cache/python"
  identity="torch $torch_version; $(python_identity); ${NIGHTJAR_TORCH:-own}"
  if done_already "$stamp" "$identity"; then
    say "$torch_version, there already"
    return
  fi
  if [[ -n ${NIGHTJAR_TORCH:-} ]]; then
    use_given_torch
  elif ! install_torch; then
    use_debian_libtorch
    return
  fi
  echo "$identity" >"$stamp"
}

# Keeps the wheel, since the demo makes its nightlies from it.
install_torch() {
  local variant
  mkdir -p "$cache/wheels"
  make_venv "$cache/python" "$(base_python)"
  [[ -n $(kept_wheel) ]] || download_torch || return 1
  variant=$(variant_of "$(kept_wheel)")
  if [[ $variant != cpu ]]; then allow_for_gpu_build "$variant"; fi
  # pip compiles byte code in one process, compileall in one for each core.
  "$cache/python/bin/pip" install -q --no-compile numpy "$(kept_wheel)" || return 1
  "$cache/python/bin/python" -m compileall -q -j 0 "$cache/python/lib" >&2 || true
  imports_torch
}

# The wheel for this Python, preferably the CPU's; nothing if there is none.
kept_wheel() {
  local tags wheel
  tags=cp$(python_digits)
  for wheel in "$cache/wheels/torch-$torch_version+cpu-$tags"-*.whl \
    "$cache/wheels/torch-$torch_version"*-"$tags"-*.whl; do
    if [[ -f $wheel ]]; then echo "$wheel"; return; fi
  done
}

# Downloads from PyTorch's index of CPU wheels, or from pip's own index if that does not answer.
download_torch() {
  local pip=("$cache/python/bin/pip" download -q --no-deps -d "$cache/wheels")
  pip+=("torch==$torch_version")
  if curl -fsS --max-time 10 -o /dev/null "$torch_index/torch/" &&
    "${pip[@]}" --index-url "$torch_index"; then return; fi
  "${pip[@]}"
}

# The variant of a wheel, as the demo reads it: "cpu", "cu130".
variant_of() {
  PYTHONPATH=deploy/demo.d "$(base_python)" \
    -c 'import sys, wheel; print(wheel.variant(sys.argv[1]))' "$1"
}

# A build for a GPU also runs on a CPU, but needs all the libraries that it is linked to.
allow_for_gpu_build() {
  local free
  free=$(($(df --output=avail -k "$cache" | tail -n 1) / 1000000))
  if ((free < cuda_gigabytes)); then
    fail "$torch_index does not answer, and the $1 build of pip's own index needs \
$cuda_gigabytes GB of disk, where $free are free; make that index reachable, or set \
NIGHTJAR_TORCH to a PyTorch that is installed"
  fi
  note "PyTorch is the $1 build of pip's own index (5 GB with its libraries; $torch_index \
did not answer). It measures on a CPU too."
}

python_digits() { "$(base_python)" -c 'import sys; print("%d%d" % sys.version_info[:2])'; }

# A virtual environment of the same Python that sees the given packages through a .pth file.
use_given_torch() {
  local packages=$NIGHTJAR_TORCH python
  python=$(base_python)
  if [[ -x $NIGHTJAR_TORCH/bin/python ]]; then
    python=$NIGHTJAR_TORCH/bin/python
    packages=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
  fi
  [[ -f $packages/torch/version.py ]] || fail "NIGHTJAR_TORCH=$NIGHTJAR_TORCH has no torch in it"
  make_venv "$cache/python" "$python"
  local own='import sysconfig; print(sysconfig.get_paths()["purelib"])'
  echo "$packages" >"$("$cache/python/bin/python" -c "$own")/given.pth"
  imports_torch || fail "the torch in $packages does not import with $python"
  if ! compgen -G "$cache/wheels/torch-*.whl" >/dev/null; then
    mkdir -p "$cache/wheels"
    "$cache/python/bin/python" deploy/build.d/repack_wheel.py "$packages" "$cache/wheels" ||
      note "no wheel could be made of $packages; deploy/demo needs one in .cache/wheels"
  fi
}

use_debian_libtorch() {
  rm -rf "$cache/python"
  install_packages libtorch-dev libopenblas0-openmp
  say "Debian's LibTorch"
  note "PyTorch $torch_version could not be fetched; Debian's libtorch-dev serves the native \
workloads only."
  note "deploy/demo needs the wheel: run deploy/build again with a network, or set NIGHTJAR_TORCH."
}

# timm and torchvision would replace PyTorch by a CUDA build. So they come without what they need,
# and transformers with a PyTorch that may not change.
ensure_models() {
  local identity stamp=$cache/python/.nightjar-models pip=$cache/python/bin/pip
  [[ -x $pip ]] || fail "there is no PyTorch of our own; run deploy/build with a network"
  identity="$transformers $image_models"
  if done_already "$stamp" "$identity"; then
    say "there already"
    return
  fi
  "$cache/python/bin/python" -c "import torch; print('torch==' + torch.__version__)" \
    >"$cache/constraints"
  # shellcheck disable=SC2086
  "$pip" install -q -c "$cache/constraints" $transformers ||
    fail "pip cannot install $transformers"
  # shellcheck disable=SC2086
  "$pip" install -q --no-deps $image_models || fail "pip cannot install $image_models"
  imports_torch
  echo "$identity" >"$stamp"
}

ensure_tools() {
  local identity stamp=$cache/tools/.nightjar
  rebase_venv "$cache/tools"
  identity="$tools $spelling $accessibility; $(python_identity)"
  if done_already "$stamp" "$identity"; then
    say "there already"
    return
  fi
  make_venv "$cache/tools" "$(base_python)"
  # shellcheck disable=SC2086
  "$cache/tools/bin/pip" install -q $tools || fail "pip cannot install $tools"
  npm install --silent --no-audit --no-fund --prefix "$cache/tools" "$spelling" \
    "$accessibility" || fail "npm cannot install $spelling and $accessibility"
  echo "$accessibility_sha256  $cache/tools/node_modules/axe-core/axe.min.js" |
    sha256sum --check --quiet || fail "$accessibility is not what it was"
  echo "$identity" >"$stamp"
}
