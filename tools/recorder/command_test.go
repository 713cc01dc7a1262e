package recorder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACrashIsToldWithItsFunction(t *testing.T) {
	log := "E0101 something\npanic: runtime error: index out of range [1] with length 0 [recovered]\n\tpanic: again\n\ngoroutine 7 [running]:\n" +
		"testing.tRunner.func1.2(0x1)\n\t/go/testing.go:1\npanic({0x1, 0x2})\n\t/go/panic.go:2\nexample.com/p.(*plugin).Filter(0x3, {0x4})\n\t/p.go:9\n"
	want := "the scheduler crashes: panic: runtime error: index out of range [1] with length 0, in example.com/p.(*plugin).Filter"
	if got := crashOf(log); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	log = "panic: oh [recovered, repanicked]\n\ngoroutine 7 [running]:\nk8s.io/runtime.handleCrash({0x1})\n\t/r.go:1\npanic({0x1, 0x2})\n\t/go/panic.go:2\n" +
		"runtime.sigpanic()\n\t/go/signal.go:3\nexample.com/p.Bind(...)\n\t/p.go:9\n\ngoroutine 8 [select]:\nmain.main()\n"
	if got, want := crashOf(log), "the scheduler crashes: panic: oh, in example.com/p.Bind"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := crashOf("FAIL\n"); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestCasesAreChecked(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`{"name":"../x"}`, `"../x" is not the name of a file`},
		{`{"objects":[]}`, `"" is not the name of a file`},
		{`{"name":"a"}{"name":"a"}`, `case 2: name: "a" is there twice`},
		{`{"name":"a"`, "case 1: unexpected EOF"},
		{`{"name":"a","end":"late"}`, "case 1: json: cannot unmarshal string"},
	} {
		path := filepath.Join(t.TempDir(), "cases.jsonl")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readCases(path); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %s", row.text, err, row.want)
		}
	}
}
