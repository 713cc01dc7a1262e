// Every node as a cell, coloured by how much of a resource is requested.

const kHighest = ""; // Not one resource, but on each node the one that is requested most.
const kGroupsMax = 60;
const kCardsMax = 60; // Up to so many nodes are cards with names.

class NodeMap {
  // `onPods(name)` shows the pods of a node.
  constructor(nodes, onPods) {
    Object.assign(this, { nodes, onPods, resource: kHighest, grouping: "zone", chosen: null });
    this.groups = element("div", { class: "groups map" });
    this.text = element("div", { class: "node-text", "aria-live": "polite" });
    const resources = nodes.resources.map((resource) => [resource.name, resource.name]);
    if (!this.has("zone")) this.grouping = this.has("pool") ? "pool" : "none";
    const groupings = [
      ["zone", "zone"],
      ["pool", "node pool"],
    ].filter(([key]) => this.has(key));
    if (groupings.length === 2) groupings.push(["both", "zone and pool"]);
    groupings.push(["none", "none"]);
    this.scaleText = element("span");
    this.node = element(
      "div",
      {},
      element(
        "div",
        { class: "controls" },
        choice("Colour", [[kHighest, "most requested resource"], ...resources], this.resource, (value) => {
          this.resource = value;
          this.draw();
        }),
        choice("Groups", groupings, this.grouping, (value) => {
          this.grouping = value;
          this.draw();
        }),
        scaleOf(this.scaleText),
      ),
      this.groups,
      this.text,
    );
    new ResizeObserver(() => this.draw()).observe(this.groups);
    this.describe();
  }

  has(key) {
    return this.nodes[key].some((text) => this.nodes.texts[text] !== "");
  }

  // Percent of what is allocatable; NaN: the node has none of it.
  shareOf(place) {
    const share = (resource) => percentOf(resource.requested[place], resource.allocatable[place]);
    if (this.resource !== kHighest)
      return share(this.nodes.resources.find((resource) => resource.name === this.resource));
    let highest = NaN;
    for (const resource of this.nodes.resources) {
      const percent = resource.name === "pods" ? NaN : share(resource);
      if (!(percent <= highest) && !Number.isNaN(percent)) highest = percent;
    }
    return highest;
  }

  // Lists of places by name of group, in order of the names; the last one takes what is left.
  grouped() {
    const { nodes, grouping } = this;
    const label = (key, place) => nodes.texts[nodes[key][place]] || `no ${key}`;
    const groups = new Map();
    nodes.name.forEach((name, place) => {
      const group =
        grouping === "none"
          ? "All nodes"
          : grouping === "both"
            ? `${label("zone", place)}, ${label("pool", place)}`
            : label(grouping, place);
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(place);
    });
    const sorted = [...groups].sort((a, b) => (a[0] < b[0] ? -1 : 1));
    const rest = sorted.splice(kGroupsMax);
    if (rest.length > 0)
      sorted.push([countOf(rest.length, "more group", "more groups"), rest.flatMap((g) => g[1])]);
    return sorted;
  }

  draw() {
    const width = Math.max(200, Math.floor(this.groups.clientWidth));
    const count = this.nodes.name.length;
    const areCards = count <= kCardsMax;
    const side = Math.max(5, Math.min(30, Math.floor(Math.sqrt((width * 520) / (count * 1.15)))));
    this.cell = areCards
      ? { width: 150, height: 40, gap: 4 }
      : { width: side, height: side, gap: side > 9 ? 2 : 1 };
    this.scaleText.textContent =
      this.resource === kHighest ? "of the resource that is requested most" : `of ${this.resource}`;
    this.order = [];
    this.canvases = [];
    this.groups.replaceChildren(
      ...this.grouped().map(([name, places]) => this.drawGroup(name, places, width)),
    );
    this.mark();
  }

  drawGroup(name, places, width) {
    const { cell } = this;
    const most = Math.max(1, Math.floor(width / cell.width));
    const wanted =
      cell.height === 40
        ? places.length
        : Math.min(places.length, Math.max(4, Math.ceil(Math.sqrt(places.length * 3))));
    const columns = wanted * 2 > most ? Math.min(most, places.length) : wanted;
    const rows = Math.ceil(places.length / columns);
    const first = this.order.length;
    this.order.push(...places);
    const paths = new Map();
    const texts = [];
    let cordons = "";
    places.forEach((place, i) => {
      const x = (i % columns) * cell.width;
      const y = Math.floor(i / columns) * cell.height;
      const share = this.shareOf(place);
      const level = levelOf(share);
      const box = `M${x} ${y}h${cell.width - cell.gap}v${cell.height - cell.gap}h${cell.gap - cell.width}z`;
      paths.set(level, (paths.get(level) || "") + box);
      if (this.nodes.unschedulable[place] === 1) cordons += box;
      if (cell.height < 40) return;
      texts.push(
        drawing("text", { x: x + 7, y: y + 15, class: "t" + level }, shortened(this.nodes.name[place], 22)),
        drawing("text", { x: x + 7, y: y + 29, class: "t" + level }, percentText(share)),
      );
    });
    const canvas = drawing(
      "svg",
      {
        width: columns * cell.width,
        height: rows * cell.height,
        tabindex: 0,
        role: "img",
        viewBox: `0 0 ${columns * cell.width} ${rows * cell.height}`,
        "aria-label":
          `${name}: ${countOf(places.length, "node", "nodes")}. ` +
          "Arrows choose a node, Enter shows its pods.",
        onkeydown: (event) => this.key(event, first, columns, places.length),
        onfocus: () => {
          if (this.chosen === null || this.chosen < first || this.chosen >= first + places.length)
            this.choose(first);
        },
        onpointermove: (event) => this.choose(this.find(event, canvas, first, columns, places.length)),
        onclick: () => this.chosen !== null && this.onPods(this.nodes.name[this.order[this.chosen]]),
      },
      [...paths]
        .sort((a, b) => (a[0] < b[0] ? -1 : 1))
        .map(([level, d]) => drawing("path", { ...shadeOf(level), d })),
      texts,
      cordons ? drawing("path", { class: "cordon", d: cordons }) : null,
    );
    this.canvases.push({ canvas, first, count: places.length, columns });
    return element(
      "div",
      { class: "group" },
      element(
        "h3",
        {},
        `${name} `,
        element(
          "span",
          { class: "soft" },
          `${countOf(places.length, "node", "nodes")}, ${this.sumText(places)}`,
        ),
      ),
      canvas,
    );
  }

  // What the nodes have of the chosen resource, all together.
  sumText(places) {
    const name = this.resource === kHighest ? "cpu" : this.resource;
    const resource = this.nodes.resources.find((one) => one.name === name);
    if (resource === undefined) return "";
    let requested = 0;
    let allocatable = 0;
    for (const place of places) {
      requested += resource.requested[place];
      allocatable += resource.allocatable[place];
    }
    return `${name} ${percentText(percentOf(requested, allocatable))}`;
  }

  find(event, canvas, first, columns, count) {
    const box = canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * columns;
    const y = Math.floor(((event.clientY - box.top) / box.height) * Math.ceil(count / columns));
    const i = y * columns + Math.floor(x);
    return x >= 0 && x < columns && i >= 0 && i < count ? first + i : this.chosen;
  }

  key(event, first, columns, count) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (step !== undefined) {
      this.choose(Math.max(first, Math.min(first + count - 1, this.chosen + step)));
    } else if (event.key === "Home" || event.key === "End") {
      this.choose(event.key === "Home" ? first : first + count - 1);
    } else if (event.key === "Enter") {
      this.onPods(this.nodes.name[this.order[this.chosen]]);
    } else {
      return;
    }
    event.preventDefault();
  }

  choose(at) {
    if (at === this.chosen) return;
    this.chosen = at;
    this.mark();
    this.describe();
  }

  mark() {
    for (const { canvas, first, count, columns } of this.canvases) {
      canvas.querySelectorAll(".mark").forEach((mark) => mark.remove());
      if (this.chosen === null || this.chosen < first || this.chosen >= first + count) continue;
      const { width, height, gap } = this.cell;
      const i = this.chosen - first;
      canvas.append(
        drawing("rect", {
          class: "mark",
          x: (i % columns) * width,
          y: Math.floor(i / columns) * height,
          width: width - gap,
          height: height - gap,
        }),
      );
    }
  }

  describe() {
    if (this.chosen === null) {
      this.text.replaceChildren(
        soft(
          "Point at a node, or move to it with the arrows, for what it has. " +
            "A click, or Enter, shows its pods.",
        ),
      );
      return;
    }
    const { nodes } = this;
    const place = this.order[this.chosen];
    const labels = [
      ["zone", nodes.texts[nodes.zone[place]]],
      ["pool", nodes.texts[nodes.pool[place]]],
    ]
      .filter((pair) => pair[1] !== "")
      .map((pair) => pair.join(" "));
    if (nodes.unschedulable[place] === 1) labels.push("cordoned");
    const amounts = nodes.resources
      .filter((resource) => resource.requested[place] || resource.allocatable[place])
      .map((resource) =>
        element(
          "span",
          {},
          `${resource.name} `,
          element("b", {}, amountText(resource.name, resource.requested[place])),
          ` of ${amountText(resource.name, resource.allocatable[place])} (` +
            percentText(percentOf(resource.requested[place], resource.allocatable[place])) +
            ")",
        ),
      );
    this.text.replaceChildren(
      element(
        "p",
        {},
        element("b", {}, nodes.name[place]),
        labels.length > 0 ? element("span", { class: "soft" }, " " + labels.join(", ")) : null,
      ),
      element("p", { class: "readout" }, amounts),
    );
  }
}

// 0: nothing is requested; 1 to 8: up to all of it; 9: more than there is; n: there is none.
function levelOf(percent) {
  if (Number.isNaN(percent)) return "n";
  if (percent <= 0) return "0";
  return percent > 100 ? "9" : String(Math.max(1, Math.ceil(percent / 12.5)));
}

// How a level is drawn, as attributes.
function shadeOf(level) {
  if (level === "n") return { class: "un" };
  const color = { 0: "cell0", 9: "over" }[level] || "ramp" + level;
  return { style: `fill:var(--${color})` };
}

// `text` says of what.
function scaleOf(text) {
  const levels = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
  return element(
    "span",
    { class: "scale" },
    "0",
    drawing(
      "svg",
      { width: 9 * 16, height: 14, role: "img", "aria-label": "from nothing to all that is allocatable" },
      levels
        .slice(0, 9)
        .map((level, i) => drawing("rect", { ...shadeOf(level), x: i * 16, width: 15, height: 14 })),
    ),
    element("span", {}, "100% ", text),
    drawing(
      "svg",
      { width: 15, height: 14, "aria-hidden": "true" },
      drawing("rect", { ...shadeOf("9"), width: 15, height: 14 }),
    ),
    "more than there is",
  );
}

// Of a name that is too long, the end says most.
function shortened(text, most) {
  return text.length <= most ? text : "\u2026" + text.slice(1 - most);
}
