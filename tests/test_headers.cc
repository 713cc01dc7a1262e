// Nothing: this program is there for the precompiled headers that the test programs use.
#include "gtest/gtest.h"
