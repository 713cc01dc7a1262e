package recorder

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const usage = `usage:
  recorder describe             says which scheduler and which plugins are in it, as JSON
  recorder run CASES TRACES     runs cases, and writes what the scheduler does
  recorder bench CASES          says what a scheduling cycle costs the real core

CASES: a file .jsonl or .jsonl.gz, or a folder of such files. TRACES: a file, or a folder, as CASES.
Exit codes: 0 done, 1 the scheduler crashed in a case, which has no trace, 2 bad usage or bad input.
`

// kubernetesVersion is that of the scheduler, such as 1.37.2: build.sh sets it.
var kubernetesVersion = "unknown"

// The environment of a child process that runs cases: the file that has them, the folder for traces, and what to do.
const (
	envCases  = "SCHEDSIM_RECORDER_CASES"
	envTraces = "SCHEDSIM_RECORDER_TRACES"
	envBench  = "SCHEDSIM_RECORDER_BENCH"
)

// runningFile has the name of the case under way, in the folder for traces.
const runningFile = "running"

// patience is how long, in real time, a case may go on.
const patience = 10 * time.Minute

// Main is the program. A bubble of virtual time needs a test, so the program is a test binary; its cases run in
// processes of their own, which a plugin may bring down.
func Main(m *testing.M) int {
	args := os.Args[1:]
	if len(args) > 0 && strings.HasPrefix(args[0], "-test.") || len(args) == 0 && os.Getenv(envCases) != "" {
		return m.Run()
	}
	// Where it is to end, its child ends with it, and so do its files.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var err error
	crashed := false
	switch {
	case len(args) == 1 && args[0] == "describe":
		err = describe(os.Stdout)
	case len(args) == 3 && args[0] == "run":
		crashed, err = runAll(ctx, args[1], args[2])
	case len(args) == 2 && args[0] == "bench":
		err = bench(ctx, args[1])
	default:
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "recorder: %v\n", err)
		return 2
	}
	if crashed {
		return 1
	}
	return 0
}

// Description is what describe prints.
type Description struct {
	Recorder          int          `json:"recorder"` // the version of this output and of the commands
	Line              string       `json:"line"`
	KubernetesVersion string       `json:"kubernetesVersion"`
	Plugins           []userPlugin `json:"plugins"` // those of --with
}

func describe(out io.Writer) error {
	d := Description{Recorder: 1, Line: line, KubernetesVersion: kubernetesVersion, Plugins: append([]userPlugin{}, userPlugins...)}
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", b)
	return err
}

// runAll runs a file of cases, or the files of a folder. crashed: a case has no trace.
func runAll(ctx context.Context, cases, traces string) (crashed bool, err error) {
	info, err := os.Stat(cases)
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return runFile(ctx, cases, traces)
	}
	files, err := filepath.Glob(filepath.Join(cases, "*.jsonl*"))
	if err != nil {
		return false, err
	}
	if len(files) == 0 {
		return false, fmt.Errorf("%s: no file of cases (.jsonl, .jsonl.gz)", cases)
	}
	if err := os.MkdirAll(traces, 0o755); err != nil {
		return false, err
	}
	for _, f := range files {
		c, err := runFile(ctx, f, filepath.Join(traces, filepath.Base(f)))
		if err != nil {
			return false, err
		}
		crashed = crashed || c
	}
	return crashed, nil
}

// caseText is a case as it was read.
type caseText struct {
	name string
	text []byte
}

// readCases reads a file of cases, one JSON object after the other.
func readCases(path string) ([]caseText, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var out []caseText
	names := map[string]bool{}
	dec := json.NewDecoder(in)
	for {
		var text json.RawMessage
		if err := dec.Decode(&text); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: case %d: %w", path, len(out)+1, err)
		}
		var c Case
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: case %d: %w", path, len(out)+1, err)
		}
		if c.Name == "" || c.Name == runningFile || strings.ContainsAny(c.Name, "/\x00") {
			return nil, fmt.Errorf("%s: case %d: name: %q is not the name of a file, expected one", path, len(out)+1, c.Name)
		}
		if names[c.Name] {
			return nil, fmt.Errorf("%s: case %d: name: %q is there twice", path, len(out)+1, c.Name)
		}
		names[c.Name] = true
		out = append(out, caseText{c.Name, bytes.Clone(text)})
	}
}

// runFile runs the cases of a file and writes their traces, a line {"case": NAME, "trace": [RECORD...]} each. A case that is
// for other lines, or in which the scheduler crashes, has none.
func runFile(ctx context.Context, cases, traces string) (crashed bool, err error) {
	list, err := readCases(cases)
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "schedsim-recorder-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	for rest := list; len(rest) > 0; {
		done, message, err := runChild(ctx, tmp, rest, "")
		if err != nil {
			return false, err
		}
		if message != "" {
			crashed = true
			fmt.Fprintf(os.Stderr, "recorder: case %s has no trace: %s\n", rest[done-1].name, message)
		}
		rest = rest[done:]
	}
	return crashed, writeTraces(tmp, list, traces)
}

func bench(ctx context.Context, cases string) error {
	list, err := readCases(cases)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "schedsim-recorder-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	_, message, err := runChild(ctx, tmp, list, "yes")
	if err == nil && message != "" {
		err = errors.New(message)
	}
	return err
}

// runChild runs cases in a process of its own, in order. Returns how many were run, and why the last one of them has no trace.
// GOMAXPROCS=1 keeps the scheduler's goroutines in one order.
func runChild(ctx context.Context, tmp string, cases []caseText, bench string) (done int, message string, err error) {
	in := filepath.Join(tmp, "cases.jsonl")
	var text bytes.Buffer
	for _, c := range cases {
		text.Write(c.text)
		text.WriteByte('\n')
	}
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		return 0, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, "", err
	}
	out := filepath.Join(tmp, "out")
	if err := os.MkdirAll(out, 0o700); err != nil {
		return 0, "", err
	}
	// A file takes what is written at once, so that the scheduler's goroutines do not change places over it.
	log, err := os.Create(filepath.Join(tmp, "log"))
	if err != nil {
		return 0, "", err
	}
	defer log.Close()
	child := exec.CommandContext(ctx, self, "-test.run=^TestCases$", "-test.timeout=0")
	child.Dir = tmp
	child.Env = append(os.Environ(), "GOMAXPROCS=1", envCases+"="+in, envTraces+"="+out, envBench+"="+bench)
	child.Stdout, child.Stderr = log, log
	if bench != "" {
		child.Stdout = os.Stdout
	}
	if err := child.Start(); err != nil {
		return 0, "", err
	}
	late := watch(child, filepath.Join(out, runningFile))
	err = child.Wait()
	isLate := late()
	if ctx.Err() != nil {
		return 0, "", errors.New("it was interrupted")
	}
	if err == nil {
		return len(cases), "", nil
	}
	running, _ := os.ReadFile(filepath.Join(out, runningFile))
	said, _ := os.ReadFile(log.Name())
	for i, c := range cases {
		if c.name != string(running) {
			continue
		}
		_ = os.Remove(filepath.Join(out, c.name+".jsonl"))
		if isLate {
			return i + 1, fmt.Sprintf("it did not come to an end in %v of real time: does a plugin wait for a network, a lock or a clock?", patience), nil
		}
		if message := crashOf(string(said)); message != "" {
			return i + 1, message, nil
		}
	}
	return 0, "", fmt.Errorf("a case could not be run: %s", lastLines(string(said), 20))
}

// watch kills the child when a case takes too long. What it returns ends the watching, and says whether it did so.
func watch(child *exec.Cmd, running string) func() bool {
	stop, late := make(chan struct{}), make(chan bool, 1)
	go func() {
		last, since := "", time.Now()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				late <- false
				return
			case <-ticker.C:
			}
			if name, _ := os.ReadFile(running); string(name) != last {
				last, since = string(name), time.Now()
			}
			if time.Since(since) > patience {
				_ = child.Process.Kill()
				late <- true
				return
			}
		}
	}()
	return func() bool {
		close(stop)
		return <-late
	}
}

// crashOf is what brought a process down, with the function in which it happened; "": it did not panic. A panic that was
// recovered and raised again shows on the stack below the first one.
func crashOf(log string) string {
	at := strings.Index(log, "panic: ")
	if at < 0 {
		return ""
	}
	lines := strings.Split(log[at:], "\n")
	message, _, _ := strings.Cut(strings.TrimSpace(lines[0]), " [recovered")
	message = "the scheduler crashes: " + message
	function, inStack, isNext := "", false, true
	for _, l := range lines {
		isOfRuntime := strings.HasPrefix(l, "testing") || strings.HasPrefix(l, "runtime.") || strings.HasPrefix(l, "\t")
		switch {
		case strings.HasPrefix(l, "goroutine ") && !inStack:
			inStack = true
		case !inStack:
		case l == "": // the end of the first stack
			if function != "" {
				message += ", in " + function
			}
			return message
		case strings.HasPrefix(l, "panic("):
			isNext = true
		case isNext && !isOfRuntime:
			function, isNext = l[:max(strings.LastIndexByte(l, '('), 0)], false
		}
	}
	if function != "" {
		message += ", in " + function
	}
	return message
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

// writeTraces puts the traces together, in the order of the cases. Without a time in it, the archive is the same each time.
func writeTraces(tmp string, cases []caseText, path string) error {
	var text bytes.Buffer
	for _, c := range cases {
		trace, err := os.ReadFile(filepath.Join(tmp, "out", c.name+".jsonl"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		name, err := json.Marshal(c.name)
		if err != nil {
			return err
		}
		records := bytes.ReplaceAll(bytes.TrimSpace(trace), []byte{'\n'}, []byte{','})
		fmt.Fprintf(&text, "{\"case\":%s,\"trace\":[%s]}\n", name, records)
	}
	out := text.Bytes()
	if strings.HasSuffix(path, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(out); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		out = packed.Bytes()
	}
	return os.WriteFile(path, out, 0o644)
}

// RunCases is the child process: it runs the cases of its file, and writes each trace to a file of its own.
func RunCases(t *testing.T) {
	path, out := os.Getenv(envCases), os.Getenv(envTraces)
	if path == "" {
		t.Skip("runs cases for `recorder run`")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dec := json.NewDecoder(bufio.NewReader(f))
	for dec.More() {
		var c Case
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		if !c.forThisLine() {
			continue
		}
		if err := os.WriteFile(filepath.Join(out, runningFile), []byte(c.Name), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			if os.Getenv(envBench) != "" {
				fmt.Println(Bench(t, &c))
				return
			}
			if err := os.WriteFile(filepath.Join(out, c.Name+".jsonl"), Run(t, &c), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}
