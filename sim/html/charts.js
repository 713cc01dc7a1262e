// Lines over virtual time, and columns of counts.

// From 1, 2 and 5 times powers of ten, the largest step of which `most` are not more than `range`.
function niceStep(range, most) {
  const rough = range / most;
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999999);
}

// The same of microseconds, where people count in sixties and days.
function niceTimeStep(range, most) {
  const second = 1e6;
  const steps = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * second);
  const rough = range / most;
  if (rough < 30 * second) return niceStep(range, most);
  return steps.find((step) => step >= rough) || 86400 * second * niceStep(rough / (86400 * second), 1);
}

function ticks(from, to, step) {
  const list = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12); ++i) list.push(i * step);
  return list;
}

// The last place whose time is not later; -1: none.
function placeAt(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// What all charts of the page show of the time, in microseconds.
class TimeRange {
  constructor(end) {
    this.whole = [0, Math.max(end, 1)];
    this.listeners = [];
    this.reset = element(
      "button",
      { type: "button", hidden: true, onclick: () => this.set(...this.whole) },
      "Whole run",
    );
    [this.from, this.to] = this.whole;
  }

  set(from, to) {
    const least = Math.max(this.whole[1] / 1e6, 1);
    this.from = Math.max(this.whole[0], Math.min(from, this.whole[1] - least));
    this.to = Math.min(this.whole[1], Math.max(to, this.from + least));
    this.reset.hidden = this.from === this.whole[0] && this.to === this.whole[1];
    for (const listener of this.listeners) listener();
  }

  // By `factor` around a time.
  zoom(factor, around) {
    const width = (this.to - this.from) * factor;
    const share = (around - this.from) / (this.to - this.from);
    const from = Math.max(this.whole[0], around - share * width);
    this.set(from, from + width);
  }
}

// Lines that hold from point to point. `runs`: [{times, other (of the second run), lines}]; the lines of all
// runs are the same, each {name, values}. `text(value)` for people.
class TimeChart {
  constructor({ title, range, runs, text, height = 210, least = 0 }) {
    Object.assign(this, { range, runs, text, height, least, hidden: new Set(), at: null });
    this.lines = runs[0].lines.map((line) => line.name);
    const legend = element(
      "span",
      { class: "legend" },
      this.lines.map((name, place) => this.legendOf(name, place)),
    );
    this.canvas = drawing("svg", {
      class: "chart",
      tabindex: 0,
      role: "img",
      "aria-label": `${title}, over virtual time. Arrows move through the points, plus and minus zoom.`,
      onkeydown: (event) => this.key(event),
      onpointerdown: (event) => this.press(event),
      onpointermove: (event) => this.move(event),
      onpointerup: (event) => this.release(event),
      onpointerleave: () => this.point(null),
      ondblclick: () => range.set(...range.whole),
    });
    this.readout = element("div", { class: "readout", "aria-live": "polite" });
    this.node = element(
      "figure",
      {},
      element("figcaption", {}, element("b", {}, title), legend),
      this.canvas,
      this.readout,
    );
    range.listeners.push(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  legendOf(name, place) {
    const mark = drawing(
      "svg",
      { width: 18, height: 8, "aria-hidden": "true" },
      drawing("path", { d: "M0 4H18", style: `stroke:var(--s${place % 8});stroke-width:3` }),
    );
    const button = element(
      "button",
      {
        type: "button",
        "aria-pressed": "true",
        onclick: () => {
          if (!this.hidden.delete(place)) this.hidden.add(place);
          button.setAttribute("aria-pressed", String(!this.hidden.has(place)));
          this.draw();
        },
      },
      mark,
      name,
    );
    return button;
  }

  // The largest value that is to be seen.
  highest() {
    let highest = this.least;
    for (const run of this.runs) {
      const first = Math.max(0, placeAt(run.times, this.range.from));
      const last = placeAt(run.times, this.range.to);
      run.lines.forEach((line, place) => {
        if (this.hidden.has(place)) return;
        for (let i = first; i <= last; ++i) {
          if (Number.isFinite(line.values[i])) highest = Math.max(highest, line.values[i]);
        }
      });
    }
    return highest;
  }

  draw() {
    const width = Math.max(240, Math.floor(this.node.clientWidth));
    const { range, height } = this;
    const top = 8;
    const bottom = height - 22;
    const highest = this.highest() || 1;
    const stepY = niceStep(highest, 4);
    const ceiling = Math.ceil(highest / stepY - 1e-9) * stepY;
    const marks = ticks(0, ceiling, stepY);
    const left = 14 + 7 * Math.max(...marks.map((mark) => this.text(mark).length));
    this.x = (time) => left + ((time - range.from) / (range.to - range.from)) * (width - left - 12);
    this.timeAt = (x) => range.from + ((x - left) / (width - left - 12)) * (range.to - range.from);
    this.y = (value) => bottom - (Math.min(value, ceiling) / ceiling) * (bottom - top);
    this.bounds = { left, right: width - 12, top, bottom };
    const stepX = niceTimeStep(range.to - range.from, Math.max(2, Math.floor(width / 110)));
    const parts = marks.flatMap((mark) => [
      drawing("path", { class: "grid", d: `M${left} ${Math.round(this.y(mark)) + 0.5}H${width - 12}` }),
      drawing(
        "text",
        { class: "axis", x: left - 6, y: this.y(mark) + 4, "text-anchor": "end" },
        this.text(mark),
      ),
    ]);
    for (const time of ticks(range.from, range.to, stepX)) {
      const x = this.x(time);
      const anchor = x > width - 40 ? "end" : x < left + 16 ? "start" : "middle";
      parts.push(
        drawing("path", { class: "grid", d: `M${Math.round(x) + 0.5} ${bottom}v4` }),
        drawing("text", { class: "axis", x, y: height - 4, "text-anchor": anchor }, durationText(time)),
      );
    }
    for (const run of this.runs) {
      run.lines.forEach((line, place) => {
        if (this.hidden.has(place)) return;
        parts.push(
          drawing("path", {
            class: run.other ? "line other" : "line",
            d: this.path(run.times, line.values),
            style: `stroke:var(--s${place % 8})`,
          }),
        );
      });
    }
    this.cursor = drawing("path", { class: "cursor" });
    this.selection = drawing("rect", { class: "select", y: top, height: bottom - top, width: 0 });
    this.canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.canvas.replaceChildren(...parts, this.selection, this.cursor);
    this.point(this.at);
  }

  path(times, values) {
    const round = (number) => Math.round(number * 10) / 10;
    const { right } = this.bounds;
    let text = "";
    let isOpen = false;
    for (let i = Math.max(0, placeAt(times, this.range.from)); i < times.length; ++i) {
      if (times[i] > this.range.to) break;
      if (!Number.isFinite(values[i])) {
        isOpen = false;
        continue;
      }
      const x = round(Math.max(this.x(times[i]), this.bounds.left));
      const end = round(Math.min(i + 1 < times.length ? this.x(times[i + 1]) : right, right));
      const y = round(this.y(values[i]));
      text += isOpen ? `V${y}H${end}` : `M${x} ${y}H${end}`;
      isOpen = true;
    }
    return text;
  }

  // Shows what holds at a time; null: nothing.
  point(time) {
    this.at = time;
    if (time === null) {
      this.cursor.removeAttribute("d");
      this.readout.replaceChildren("\u00a0");
      return;
    }
    const { top, bottom } = this.bounds;
    this.cursor.setAttribute("d", `M${this.x(time)} ${top}V${bottom}`);
    const items = [element("span", {}, "at ", element("b", {}, durationText(time)))];
    for (const run of this.runs) {
      const place = placeAt(run.times, time);
      run.lines.forEach((line, of) => {
        if (this.hidden.has(of) || place < 0) return;
        const side = this.runs.length > 1 ? (run.other ? " in B " : " in A ") : " ";
        items.push(element("span", {}, line.name + side, element("b", {}, this.text(line.values[place]))));
      });
    }
    this.readout.replaceChildren(...items);
  }

  timeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * this.canvas.viewBox.baseVal.width) / box.width;
    return Math.max(this.range.from, Math.min(this.range.to, this.timeAt(x)));
  }

  press(event) {
    if (event.pointerType === "touch" || event.button !== 0) return;
    this.pressed = this.timeOf(event);
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const time = this.timeOf(event);
    if (this.pressed !== undefined) {
      const [from, to] = [Math.min(this.pressed, time), Math.max(this.pressed, time)];
      this.selection.setAttribute("x", this.x(from));
      this.selection.setAttribute("width", this.x(to) - this.x(from));
    }
    this.point(time);
  }

  release(event) {
    if (this.pressed === undefined) return;
    const [from, to] = [this.pressed, this.timeOf(event)].sort((a, b) => a - b);
    this.pressed = undefined;
    this.selection.setAttribute("width", 0);
    if (this.x(to) - this.x(from) > 6) this.range.set(from, to);
  }

  key(event) {
    const { times } = this.runs[0];
    const at = this.at === null ? this.range.from : this.at;
    const place = placeAt(times, at);
    const go = {
      ArrowLeft: times[Math.max(0, place - 1)],
      ArrowRight: times[Math.min(times.length - 1, place + 1)],
      Home: times[0],
      End: times[times.length - 1],
    }[event.key];
    if (go !== undefined) {
      if (go < this.range.from || go > this.range.to) {
        const half = (this.range.to - this.range.from) / 2;
        this.range.set(go - half, go + half);
      }
      this.point(go);
    } else if (event.key === "+" || event.key === "=") {
      this.range.zoom(0.5, at);
    } else if (event.key === "-") {
      this.range.zoom(2, at);
    } else if (event.key === "0" || event.key === "Escape") {
      this.range.set(...this.range.whole);
    } else {
      return;
    }
    event.preventDefault();
  }
}

// A column for each row of `labels`, its height by the count.
function columnChart({ title, labels, counts, height = 190 }) {
  const canvas = drawing("svg", {
    class: "chart",
    role: "img",
    style: "cursor:default",
    "aria-label": `${title}: ` + labels.map((label, i) => `${label} ${countText(counts[i])}`).join(", "),
  });
  const node = element("figure", {}, element("figcaption", {}, element("b", {}, title)), canvas);
  const draw = () => {
    const width = Math.max(240, Math.floor(node.clientWidth));
    const bottom = height - 22;
    const step = Math.min(90, (width - 8) / labels.length);
    const highest = Math.max(...counts);
    const every = Math.ceil(62 / step);
    const parts = labels.flatMap((label, i) => {
      const x = 4 + i * step;
      const top = bottom - Math.max(counts[i] > 0 ? 1 : 0, (counts[i] / highest) * (bottom - 22));
      return [
        drawing("rect", { class: "column", x, y: top, width: Math.max(1, step - 3), height: bottom - top }),
        i % every === 0 || (i === labels.length - 1 && step > 62)
          ? drawing(
              "text",
              {
                class: "axis",
                x: x + (step - 3) / 2,
                y: height - 5,
                "text-anchor": i === 0 ? "start" : "middle",
                dx: i === 0 ? -(step - 3) / 2 : 0,
              },
              label,
            )
          : null,
        counts[i] > 0 && step > 34
          ? drawing(
              "text",
              { class: "axis", x: x + (step - 3) / 2, y: top - 5, "text-anchor": "middle" },
              countText(counts[i]),
            )
          : null,
      ];
    });
    canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
    canvas.replaceChildren(
      ...parts.filter((part) => part !== null),
      drawing("path", { class: "grid", d: `M4 ${bottom + 0.5}H${width - 4}` }),
    );
  };
  new ResizeObserver(draw).observe(node);
  return node;
}
