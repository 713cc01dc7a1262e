#!/usr/bin/env bash
# Installs the Debian packages that a build needs (bookworm: their versions are what the build is made for).
# Does nothing when all are there. Needs root or sudo only when something is missing.
set -euo pipefail

packages=(
  ccache
  cmake
  g++
  libabsl-dev
  libarchive-dev
  libbenchmark-dev
  libcli11-dev
  libcpp-httplib-dev
  libgtest-dev
  libjq-dev
  liblzma-dev
  libprotozero-dev
  libre2-dev
  libsimdjson-dev
  libssl-dev
  libyaml-cpp-dev
  libyaml-dev
  libzstd-dev
  ninja-build
  nlohmann-json3-dev
  pkg-config
  python3
  wabt
  zlib1g-dev
)

missing=()
for package in "${packages[@]}"; do
  if ! dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; then
    missing+=("$package")
  fi
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

echo "Installing: ${missing[*]}"
as_root=()
if [[ $(id -u) != 0 ]]; then
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${missing[@]}"
