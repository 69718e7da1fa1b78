# Fetches third-party data for tests into .cache/testdata. Sourced by deploy/build.

payloads=@octokit/webhooks-examples@7.6.1
description=@octokit/openapi@23.0.2
# numpy.unique of integers is several times slower from 2.3.0 on.
numpy_releases="numpy==2.2.6 numpy==2.3.0 numpy==2.3.2 numpy==2.3.5"
# Holds the published schemas of Kubernetes' objects, for each release.
manifests=kubernetes-validate==1.37.0
manifests_file=kubernetes_validate/kubernetes-json-schema/v1.34.0-local-strict/_definitions.json
# Holds SchemaStore's schemas of GitHub's actions and of GitLab's pipelines.
ci_schemas=check-jsonschema==0.37.1
ci_schemas_sha256=cf672ef4ccd62f9512ac40d28dde135108799ee8d749095ac72b62ecdb796d2e
description_file=generated/api.github.com.deref.json

# unpack PACKAGE FOLDER [MEMBER]: unpacks a package's files, or one of them, into FOLDER.
unpack() {
  local work archive
  work=$(mktemp -d)
  archive=$(cd "$work" && npm pack --silent "$1") || fail "npm cannot fetch $1"
  mkdir -p "$2"
  tar -xzf "$work/$archive" -C "$2" --strip-components=1 ${3:+"package/$3"} || fail "$1 has no $3"
  rm -rf "$work"
}

# fetch_wheel REQUIREMENT FOLDER
fetch_wheel() {
  "$cache/tools/bin/python" -m pip download -q --no-deps --only-binary :all: --dest "$2" "$1" ||
    fail "pip cannot fetch $1"
}

ensure_testdata() {
  local data=$cache/testdata stamp=$cache/testdata/.nightjar
  local identity="$payloads $description $numpy_releases $manifests $ci_schemas"
  if done_already "$stamp" "$identity"; then
    say "there already"
    return
  fi
  rm -rf "$data.new"
  unpack "$payloads" "$data.new/webhooks-examples"
  # One file only: the whole package is several hundred megabytes.
  unpack "$description" "$data.new" "$description_file"
  mv "$data.new/$description_file" "$data.new/"
  rmdir "$data.new/${description_file%/*}"
  local version
  for version in $numpy_releases; do fetch_wheel "$version" "$data.new/numpy"; done
  fetch_wheel "$manifests" "$data.new/wheels"
  "$cache/tools/bin/python" -m zipfile -e "$data.new"/wheels/*.whl "$data.new/wheels/all"
  mv "$data.new/wheels/all/$manifests_file" "$data.new/kubernetes.json" ||
    fail "$manifests has no $manifests_file"
  rm -rf "$data.new/wheels"
  fetch_wheel "$ci_schemas" "$data.new/wheels"
  echo "$ci_schemas_sha256" "$data.new"/wheels/*.whl | sha256sum --check --quiet ||
    fail "$ci_schemas is not the file that it was"
  "$cache/tools/bin/python" -m zipfile -e "$data.new"/wheels/*.whl "$data.new/wheels/all"
  mkdir "$data.new/ci"
  mv "$data.new"/wheels/all/check_jsonschema/builtin_schemas/vendor/git*.json "$data.new/ci/"
  rm -rf "$data.new/wheels"
  echo "$identity" >"$data.new/.nightjar"
  rm -rf "$data"
  mv "$data.new" "$data"
}
