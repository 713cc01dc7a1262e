#include "sim/stages/pod_addresses.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

using Strings = std::vector<std::string>;

TEST(PodAddressesTest, APoolForEachCidrAsItIsWritten) {
  PodAddresses addresses;
  EXPECT_EQ(addresses.Take("a", {"10.0.0.0/24", "fd00::/64"}), (Strings{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(addresses.Take("b", {"10.0.0.0/24"}), Strings{"10.0.0.2"});
  EXPECT_EQ(addresses.Take("a", {"10.0.0.0/24", "fd00::/64"}), (Strings{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(addresses.Take("c", {"10.0.0.1/24"}), Strings{"10.0.0.2"});
  EXPECT_EQ(addresses.Take("d", {"nonsense"}), Strings{});
}

TEST(PodAddressesTest, FreedAddressesComeFirst) {
  PodAddresses addresses;
  for (const char* pod : {"a", "b", "c"}) addresses.Take(pod, {"10.0.0.0/24"});
  addresses.Release("b");
  addresses.Release("a");
  addresses.Release("nobody");
  EXPECT_EQ(addresses.Take("d", {"10.0.0.0/24"}), Strings{"10.0.0.1"});
  EXPECT_EQ(addresses.Take("e", {"10.0.0.0/24"}), Strings{"10.0.0.2"});
  EXPECT_EQ(addresses.Take("f", {"10.0.0.0/24"}), Strings{"10.0.0.4"});
}

TEST(PodAddressesTest, NetworksAndAddressesFollowEachOther) {
  EXPECT_EQ(AddToCidr("10.0.0.0/24", 1), "10.0.1.0/24");
  EXPECT_EQ(AddToCidr("10.0.0.0/24", 300), "10.1.44.0/24");
  EXPECT_EQ(AddToCidr("fd00::/64", 2), "fd00:0:0:2::/64");
  EXPECT_EQ(AddToCidr("10.0.0.0", 1), "");
  EXPECT_EQ(AddToAddress("192.0.2.1", 255), "192.0.3.0");
  EXPECT_EQ(AddToAddress("2001:db8::1", 15), "2001:db8::10");
  EXPECT_EQ(AddressIn("10.0.0.0/33", 1), "");
}

}  // namespace
}  // namespace schedsim::sim
