// Uses schedsim::core alone: it links without codec and sim.
#include <cstdio>

#include "core/base/digest.h"

int main() {
  schedsim::Digest digest;
  digest.Add("node-1");
  std::printf("%s\n", digest.Hex().c_str());
  return digest.Hex().size() == 16 ? 0 : 1;
}
