// Go's math/rand has to follow a case's seed.
//
//go:debug randseednop=0
package recorder

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestCases(t *testing.T) { RunCases(t) }
