// The parts of the page, from the data to the document.

const data = JSON.parse(document.getElementById("data").textContent);
const { run, other } = data;
const { report } = run;

// As the report has it of pods without a message.
const kNoAttempt = "(no attempt yet)";

function podKey(pods, row) {
  return `${pods.texts[pods.namespace[row]]}/${pods.name[row]}`;
}

function inputText(setup) {
  return setup.inputs.length > 0 ? setup.inputs.join(", ") : "standard input";
}

// ---- Summary ----

function stat(name, value, note, isAlert) {
  return element(
    "div",
    { class: isAlert ? "alert" : null },
    element("dt", {}, name),
    element("dd", {}, value, note ? element("span", {}, note) : null),
  );
}

function stats() {
  const latency = report.queueLatencyMicroseconds;
  const anyBound = run.latencies.count.length > 0;
  const before = report.boundBeforeNow.bound;
  const rest = [
    ["terminating", "Terminating"],
    ["evicted", "Evicted"],
    ["deleted", "Deleted"],
    ["ignored", "Ignored"],
    ["finished", "Finished"],
    ["refused", "Refused"],
  ].filter(([key]) => report[key] > 0);
  return element(
    "dl",
    { class: "stats" },
    stat("Nodes", countText(report.nodes)),
    stat("Bound pods", countText(report.bound), before > 0 ? `${countText(before)} of them before` : null),
    stat("Pending pods", countText(report.pending), null, report.pending > 0),
    rest.map(([key, name]) => stat(name, countText(report[key]))),
    stat("Attempts", countText(report.attempts)),
    stat(
      "Queue latency",
      anyBound ? durationText(latency.p50) : "none bound",
      anyBound ? `median; p99 ${durationText(latency.p99)}` : null,
    ),
    stat("Virtual time", durationText(report.virtualTimeMicroseconds)),
  );
}

function noticeList() {
  const notices = report.failures
    .map((text) => element("li", { class: "alert" }, "Failed: " + text))
    .concat(report.warnings.map((text) => element("li", {}, text)));
  if (report.inexactPods.length > 0) {
    notices.unshift(
      element(
        "li",
        { class: "alert" },
        `${countOf(report.inexactPods.length, "pod uses", "pods use")} ` +
          "what is not simulated yet; results may differ from the real scheduler's: " +
          [...new Set(report.inexactPods.map((pod) => pod.reason))].join("; "),
      ),
    );
  }
  if (notices.length === 0) return null;
  return element(
    "details",
    { open: notices.length <= 8 },
    element("summary", {}, countOf(notices.length, "notice", "notices")),
    element("ul", { class: "plain small" }, notices),
  );
}

function resourceTable() {
  const isAny = (amount) => amount !== 0;
  const shown = run.series.resources.filter(
    (resource) => resource.requested.some(isAny) || resource.allocatable.some(isAny),
  );
  return wholeTable(
    ["Resource", "Requested", "Allocatable", "Percent", ""],
    3,
    shown.map((resource) => {
      const requested = resource.requested[resource.requested.length - 1];
      const allocatable = resource.allocatable[resource.allocatable.length - 1];
      const percent = percentOf(requested, allocatable);
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, resource.name),
        element("td", { class: "num" }, amountText(resource.name, requested)),
        element("td", { class: "num" }, amountText(resource.name, allocatable)),
        element("td", { class: "num" }, percentText(percent)),
        element("td", { class: "bar" }, meter(percent)),
      );
    }),
    "Resources at the end",
  );
}

function summary() {
  return section(
    "summary",
    "Summary",
    stats(),
    noticeList(),
    facts([
      ["Input", inputText(run.setup)],
      ["Kubernetes", report.kubernetesVersion],
      ["Seed", run.setup.seed],
      ["Controllers", run.setup.controllers ? "all" : "none"],
      ["Time model", report.queueLatencyMicroseconds.model],
      ["Virtual zero", report.virtualZero],
      ["Digest of decisions", report.digest],
      report.exact ? null : ["Exact", "no, see the notices"],
      [
        "Configuration",
        element(
          "details",
          {},
          element("summary", {}, "what takes effect"),
          element("pre", {}, run.setup.configuration),
        ),
      ],
    ]),
    resourceTable(),
  );
}

// ---- Over time ----

function linesOf(series, names) {
  return names.map(([key, name]) => ({ name, values: series[key] }));
}

// Names of resources that any of the nodes had at any time, the usual ones first.
function resourceNames() {
  const usual = ["cpu", "memory"];
  const names = run.series.resources
    .filter((resource) => resource.allocatable.some((amount) => amount > 0))
    .map((resource) => resource.name);
  return usual
    .filter((name) => names.includes(name))
    .concat(names.filter((name) => !usual.includes(name)))
    .slice(0, 8);
}

function shareLines(series, names) {
  return names.map((name) => {
    const resource = series.resources.find((one) => one.name === name);
    const percent = (unused, i) => {
      const share = resource === undefined ? NaN : percentOf(resource.requested[i], resource.allocatable[i]);
      return Number.isFinite(share) ? share : NaN;
    };
    return { name, values: series.microseconds.map(percent) };
  });
}

function overTime() {
  const ends = [run, other].filter(Boolean).map((one) => one.report.virtualTimeMicroseconds);
  const range = new TimeRange(Math.max(...ends));
  const names = resourceNames();
  const runsOf = (lines) =>
    [run, other].filter(Boolean).map((one) => ({
      times: one.series.microseconds,
      other: one === other,
      lines: lines(one.series),
    }));
  const chart = (title, text, least, lines) =>
    new TimeChart({ title, range, text, least, runs: runsOf(lines) }).node;
  const waiting = [
    ["pending", "pending pods"],
    ["active", "active"],
    ["backoff", "backoff"],
    ["unschedulable", "unschedulable"],
    ["gated", "gated"],
  ];
  const changing = [["bound", "bound pods"]];
  if (run.series.evicted.some((count) => count > 0))
    changing.push(["evicted", "victims of preemption so far"]);
  const hasNodes = new Set(run.series.nodes).size > 1;
  return section(
    "time",
    "Over virtual time",
    soft(
      "A value holds until the next point. Drag over a chart, or press plus, to look closer: all follow.",
      other ? " A is drawn solid, B dashed." : "",
    ),
    element("div", { class: "controls" }, range.reset),
    names.length > 0
      ? chart(
          "Requested of allocatable",
          (value) => percentText(value).replace(".0", ""),
          100,
          (series) => shareLines(series, names),
        )
      : null,
    chart("Waiting pods, and the queues they are in", countText, 4, (series) => linesOf(series, waiting)),
    chart("Bound pods", countText, 4, (series) => linesOf(series, changing)),
    hasNodes ? chart("Nodes", countText, 4, (series) => linesOf(series, [["nodes", "nodes"]])) : null,
  );
}

// ---- Pending pods, preemptions, latency ----

function explanationOf(message) {
  const found = data.explanations.find((one) => one.message === message);
  if (found === undefined) return null;
  return element(
    "details",
    { open: false },
    element("summary", {}, `The numbers behind it, of ${found.pod}`),
    element("pre", { class: "wrap" }, found.text),
  );
}

function pending(showPods) {
  const rows = report.pendingByMessage;
  if (rows.length === 0) return section("pending", "Pending pods", element("p", {}, "No pod is pending."));
  const most = rows[0].count;
  const left = rows.length - data.explanations.length;
  const table = new PagedTable({
    caption: `${countOf(report.pending, "pod", "pods")}, ${countOf(rows.length, "reason", "reasons")}`,
    rows: rows.map((unused, row) => row),
    columns: [
      { title: "Pods", kind: "num", cell: (row) => countText(rows[row].count) },
      { title: "", kind: "bar", cell: (row) => meter((100 * rows[row].count) / most) },
      {
        title: "Reason",
        kind: "wide",
        cell: (row) => element("div", {}, rows[row].message, explanationOf(rows[row].message)),
      },
      {
        title: "",
        cell: (row) =>
          element(
            "button",
            { type: "button", class: "link screen", onclick: () => showPods(rows[row].message) },
            "Show pods",
          ),
      },
    ],
  });
  return section(
    "pending",
    "Pending pods",
    table.node,
    left > 0 && data.explanations.length > 0
      ? soft(
          `A pod of each of ${countOf(data.explanations.length, "reason", "reasons")} is explained; ` +
            "`schedsim explain POD` explains any other.",
        )
      : null,
  );
}

function latency() {
  const { limitMicroseconds, count } = run.latencies;
  if (count.length === 0)
    return section("latency", "Queue latency", element("p", {}, "No pod was bound in this run."));
  const values = report.queueLatencyMicroseconds;
  return section(
    "latency",
    "Queue latency",
    columnChart({
      title: "Pods by the time from the queue to the binding, up to",
      labels: limitMicroseconds.map(durationText),
      counts: count,
    }),
    facts([
      ["Median", durationText(values.p50)],
      ["90th percentile", durationText(values.p90)],
      ["99th percentile", durationText(values.p99)],
      ["Longest", durationText(values.max)],
      ["Model", values.model],
    ]),
  );
}

function preemptions() {
  const { count, list } = run.preemptions;
  if (count === 0) return null;
  const table = new PagedTable({
    caption:
      count > list.length
        ? `The first ${countText(list.length)} of ${countText(count)}`
        : countOf(count, "preemption", "preemptions"),
    rows: list.map((unused, row) => row),
    columns: [
      {
        title: "Time",
        kind: "num",
        cell: (row) => durationText(list[row].microseconds),
        key: (row) => list[row].microseconds,
      },
      { title: "For pod", kind: "name", cell: (row) => list[row].pod, key: (row) => list[row].pod },
      {
        title: "Attempt",
        kind: "num",
        cell: (row) => countText(list[row].attempt),
        key: (row) => list[row].attempt,
      },
      { title: "On node", kind: "name", cell: (row) => list[row].node, key: (row) => list[row].node },
      {
        title: "Victims",
        kind: "wide",
        cell: (row) => (list[row].victims === null ? "not looked at" : list[row].victims.join(", ")),
      },
    ],
  });
  return section("preemptions", "Preemptions", table.node);
}

// ---- Workloads ----

function workloads() {
  const rows = report.workloads;
  if (rows.length === 0) return null;
  const table = new PagedTable({
    caption: countOf(rows.length, "workload", "workloads"),
    rows: rows.map((unused, row) => row),
    columns: [
      ["Kind", "kind"],
      ["Namespace", "namespace"],
      ["Name", "name", "name"],
      ["Wanted", "wanted", "num"],
      ["Ready", "ready", "num"],
      ["Pending", "pending", "num"],
    ].map(([title, key, kind]) => ({
      title,
      kind,
      cell: (row) => (kind === "num" ? countText(rows[row][key] || 0) : String(rows[row][key])),
      key: (row) => (kind === "num" ? rows[row][key] || 0 : rows[row][key]),
    })),
  });
  return section("workloads", "Workloads", table.node);
}

// ---- Pods ----

class PodTable {
  constructor(pods) {
    this.pods = pods;
    this.all = Array.from(pods.name, (unused, row) => row);
    this.status = "";
    this.only = null; // {column, text}: no other pods.
    this.onlyButton = element("button", {
      type: "button",
      hidden: true,
      onclick: () => {
        this.only = null;
        this.filter();
      },
    });
    this.found = element("span", { class: "small soft", "aria-live": "polite" });
    this.search = element("input", {
      type: "search",
      placeholder: "web node:worker-1 reason:Unschedulable",
      "aria-describedby": "search-help",
      oninput: () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.filter(), 120);
      },
    });
    const statuses = [...new Set(pods.status)].map((text) => pods.texts[text]).sort();
    const text = (column) => ({
      cell: (row) => pods.texts[pods[column][row]],
      key: (row) => pods.texts[pods[column][row]],
    });
    const latency = pods.queueLatencyMicroseconds;
    this.table = new PagedTable({
      caption: "Pods, by namespace and name",
      rows: this.all,
      details: {
        has: (row) => pods.texts[pods.message[row]] !== "" || pods.inexact[row] === 1,
        show: (row) => this.detailsOf(row),
      },
      columns: [
        { title: "Pod", kind: "name", cell: (row) => podKey(pods, row), key: (row) => podKey(pods, row) },
        { title: "Status", ...text("status") },
        { title: "Node", kind: "name", ...text("node") },
        { title: "Reason", ...text("reason") },
        {
          title: "Attempts",
          kind: "num",
          cell: (row) => countText(pods.attempts[row]),
          key: (row) => pods.attempts[row],
        },
        {
          title: "Queue latency",
          kind: "num",
          cell: (row) => (latency[row] < 0 ? "" : durationText(latency[row])),
          key: (row) => latency[row],
        },
      ],
    });
    this.statusChoice = choice(
      "Status",
      [["", "all"], ...statuses.map((status) => [status, status])],
      "",
      (status) => {
        this.status = status;
        this.filter();
      },
    );
    this.node = section(
      "pods",
      "Pods",
      element(
        "div",
        { class: "controls" },
        element("label", { class: "grow" }, "Search", this.search),
        this.statusChoice,
        this.onlyButton,
        this.found,
      ),
      element(
        "p",
        { class: "soft small screen", id: "search-help" },
        "Every word must be part of name, namespace, node, " +
          "reason or message; node:, namespace:, name:, reason: and message: look in one of them, " +
          '"several words" ' +
          "stand together. A name that is a button has more to say.",
      ),
      this.table.node,
    );
    this.filter();
  }

  detailsOf(row) {
    const { pods } = this;
    const message = pods.texts[pods.message[row]];
    return element(
      "div",
      {},
      message ? element("p", {}, message) : null,
      pods.inexact[row] === 1
        ? element("p", { class: "alert" }, "Uses what is not simulated yet: inexact.")
        : null,
      explanationOf(message),
      pods.texts[pods.status[row]] === "Pending" && explanationOf(message) === null
        ? element(
            "p",
            { class: "soft small" },
            `schedsim explain ${podKey(pods, row)} has the numbers behind it.`,
          )
        : null,
    );
  }

  // Only pods of a status, "" for any, with this text in a column.
  show(column, text, status) {
    this.search.value = "";
    this.status = status;
    this.statusChoice.querySelector("select").value = status;
    this.only = { column, text };
    this.filter();
    this.node.scrollIntoView();
    this.onlyButton.focus({ preventScroll: true });
  }

  filter() {
    const { pods } = this;
    const words = (this.search.value.match(/(?:[a-z]+:)?(?:"[^"]*"?|\S+)/gi) || [])
      .map((word) => {
        const [, field, text] = /^(?:(node|namespace|name|reason|message):)?"?(.*?)"?$/is.exec(word);
        return { field, text: text.toLowerCase() };
      })
      .filter((word) => word.text !== "");
    const lower = pods.texts.map((text) => text.toLowerCase());
    // Of texts that many pods share, each is looked at once.
    const tests = words.map(({ field, text }) => {
      const hits = lower.map((one) => one.includes(text));
      const columns = ["namespace", "node", "reason", "message"]
        .filter((one) => !field || one === field)
        .map((one) => pods[one]);
      const looksAtName = !field || field === "name";
      return (row) =>
        columns.some((column) => hits[column[row]]) ||
        (looksAtName && pods.name[row].toLowerCase().includes(text)) ||
        (!field && text.includes("/") && podKey(pods, row).toLowerCase().includes(text));
    });
    const status = this.status === "" ? -1 : pods.texts.indexOf(this.status);
    const { only } = this;
    const wanted = only === null ? -1 : pods.texts.indexOf(only.text);
    this.onlyButton.hidden = only === null;
    if (only !== null)
      this.onlyButton.textContent = `Only ${only.column} ${shortened(only.text || "empty", 60)} \u2715`;
    const rows = this.all.filter(
      (row) =>
        (only === null || pods[only.column][row] === wanted) &&
        (status < 0 || pods.status[row] === status) &&
        tests.every((test) => test(row)),
    );
    this.found.textContent =
      rows.length === this.all.length
        ? countOf(rows.length, "pod", "pods")
        : `${countText(rows.length)} of ${countOf(this.all.length, "pod", "pods")}`;
    this.table.setRows(rows);
  }
}

// ---- Two runs ----

const kDifferences = {
  moved: "on another node",
  pending: "pending in B only",
  bound: "bound in B only",
  gone: "gone in B only",
  there: "gone in A only",
  onlyA: "made in A only",
  onlyB: "made in B only",
};

function sums(diff) {
  const rows = [
    ["Attempts", "attempts"],
    ["Bound pods", "bound"],
    ["Pending pods", "pending"],
    ["Victims of preemption", "evicted"],
    ["Nodes taken", "nodesTaken"],
    ["Queue latency, median", "latencyP50Microseconds", durationText],
    ["Queue latency, p99", "latencyP99Microseconds", durationText],
    ["Digest of decisions", "decisionDigest", String],
  ];
  const cell = (value, text) =>
    element("td", { class: "num" }, value === undefined ? "" : (text || countText)(value));
  const change = (a, b, text) =>
    a === undefined || b === undefined || typeof a === "string"
      ? ""
      : a === b
        ? "same"
        : (b > a ? "+" : "\u2212") + (text || countText)(Math.abs(b - a));
  return wholeTable(
    ["", "A", "B", "Change"],
    3,
    rows.map(([name, key, text]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        cell(diff.a[key], text),
        cell(diff.b[key], text),
        element("td", { class: "num" }, change(diff.a[key], diff.b[key], text)),
      ),
    ),
  );
}

function firstDifference(diff) {
  const first = diff.firstDifference;
  if (first === null) return element("p", {}, "Both runs make the same decisions.");
  const side = (decision) =>
    decision === null
      ? "makes no attempt more"
      : `attempt ${countText(decision.attempt)} at ` +
        `${durationText(decision.timeMicroseconds)}: ${decision.pod} ` +
        (decision.node !== "" ? `takes ${decision.node}` : `finds no node. ${decision.message}`);
  return element(
    "div",
    {},
    element("h3", {}, "The first difference"),
    facts([["A", side(first.a)], ["B", side(first.b)], first.cause.text ? ["Why", first.cause.text] : null]),
    first.scores.length === 0
      ? null
      : wholeTable(
          ["Plugin", "A's node in A", "B's node in A", "A's node in B", "B's node in B"],
          4,
          first.scores.map((score) =>
            element(
              "tr",
              {},
              element("th", { scope: "row" }, score.plugin),
              [score.nodeOfAInA, score.nodeOfBInA, score.nodeOfAInB, score.nodeOfBInB].map((points) =>
                element("td", { class: "num" }, countText(points)),
              ),
            ),
          ),
        ),
  );
}

function comparison() {
  const { diff } = data;
  if (diff === undefined) return null;
  const rows = diff.pods;
  const text = (row) => kDifferences[rows[row].difference] || rows[row].difference;
  const why = (row) => rows[row].cause.text || rows[row].message;
  const column = (title, key, kind) => ({
    title,
    kind,
    cell: (row) => rows[row][key],
    key: (row) => rows[row][key],
  });
  const kinds = Object.entries(diff.counts).filter(([, count]) => count > 0);
  const table = new PagedTable({
    caption:
      `${countOf(rows.length, "pod ends", "pods end")} otherwise, ` + `${countText(diff.counts.same)} alike`,
    pageSize: 20,
    rows: rows.map((unused, row) => row),
    columns: [
      column("Pod", "pod", "name"),
      { title: "Difference", cell: text, key: text },
      column("Node in A", "nodeInA", "name"),
      column("Node in B", "nodeInB", "name"),
      { title: "Why", kind: "wide", cell: why, key: why },
    ],
  });
  return section(
    "compare",
    "Two runs",
    facts([
      ["A", diff.a.label],
      ["B", diff.b.label],
    ]),
    sums(diff),
    firstDifference(diff),
    element("h3", {}, "Pods that end otherwise"),
    kinds.length > 1 || rows.length > 0
      ? facts(kinds.map(([kind, count]) => [kindText(kind), countText(count)]))
      : null,
    table.node,
  );
}

function kindText(kind) {
  const named = {
    same: "alike",
    movedAmongEquals: "moved among equals",
    ignored: "ignored",
    ...kDifferences,
  }[kind];
  return (named || kind).replace(/^./, (letter) => letter.toUpperCase());
}

// ---- The page ----

function originText() {
  const { diff } = data;
  if (diff !== undefined) return `Two runs of schedsim: A, ${diff.a.label}; B, ${diff.b.label}`;
  const { seed } = run.setup;
  return `A run of schedsim: Kubernetes ${report.kubernetesVersion}, seed ${seed}, digest ${report.digest}`;
}

function build() {
  const podTable = new PodTable(run.pods);
  const nodeMap = new NodeMap(run.nodes, (name) => podTable.show("node", name, ""));
  const parts = [
    summary(),
    comparison(),
    overTime(),
    run.nodes.name.length > 0
      ? section("nodes", other ? "Nodes at the end of A" : "Nodes at the end", nodeMap.node)
      : null,
    pending((message) => podTable.show("message", message === kNoAttempt ? "" : message, "Pending")),
    preemptions(),
    latency(),
    workloads(),
    podTable.node,
  ].filter((part) => part !== null);
  const links = parts.map((part) =>
    element("li", {}, element("a", { href: "#" + part.id }, part.querySelector("h2").textContent)),
  );
  document.title = "schedsim report: " + inputText(run.setup);
  document.body.append(
    element("a", { class: "skip", href: "#summary" }, "To the summary"),
    element(
      "header",
      {},
      element("h1", {}, inputText(run.setup)),
      element("p", { class: "soft" }, originText()),
    ),
    element("nav", { "aria-label": "Parts" }, element("ul", {}, links)),
    element("main", {}, parts),
  );
}

// On paper everything is open.
function openForPrint() {
  const closed = [...document.querySelectorAll("main details:not([open])")];
  for (const one of closed) one.open = true;
  addEventListener(
    "afterprint",
    () =>
      closed.forEach((one) => {
        one.open = false;
      }),
    { once: true },
  );
}

build();
addEventListener("beforeprint", openForPrint);
