"use strict";
// What all parts of the page use: elements, numbers for people, tables by pages. Texts of the cluster reach
// the page as text nodes and attributes only, never as HTML.

// An element. `attributes`: attributes, and handlers as functions under "on...". Children are elements and
// texts; null is left out.
function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function drawing(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") {
      node.addEventListener(key.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(key, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// ---- Numbers for people ----

function countText(number) {
  const digits = String(Math.abs(number)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return number < 0 ? "\u2212" + digits : digits;
}

function countOf(number, one, many) {
  return countText(number) + " " + (number === 1 ? one : many);
}

// At most `places` digits behind the point, and no zeros at the end.
function decimalText(number, places) {
  const [whole, rest = ""] = number.toFixed(places).split(".");
  const digits = rest.replace(/0+$/, "");
  return countText(Number(whole)) + (digits === "" ? "" : "." + digits);
}

function durationText(microseconds) {
  const ms = microseconds / 1000;
  if (ms === 0) return "0";
  if (ms < 1) return decimalText(microseconds, 0) + " \u00b5s";
  if (ms < 1000) return decimalText(ms, ms < 10 ? 2 : 1) + " ms";
  const seconds = ms / 1000;
  if (seconds < 120) return decimalText(seconds, seconds < 10 ? 3 : 2) + " s";
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "min"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex((part) => part[0] > 0);
  return parts
    .slice(first, first + 2)
    .filter((part) => part[0] > 0)
    .map((part) => part.join(" "))
    .join(" ");
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return (bytes < 0 ? "\u2212" : "") + decimalText(value, value < 10 ? 2 : 1) + " " + units[unit];
}

function isBytes(resource) {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

// An amount of a resource, in the unit of the data: thousandths of cores, bytes, or wholes.
function amountText(resource, amount) {
  if (resource === "cpu") return decimalText(amount / 1000, 3);
  return isBytes(resource) ? bytesText(amount) : countText(amount);
}

function percentOf(requested, allocatable) {
  if (allocatable > 0) return (100 * requested) / allocatable;
  return requested > 0 ? Infinity : NaN;
}

function percentText(percent) {
  if (Number.isNaN(percent)) return "none";
  if (percent === Infinity) return "over";
  return (percent > 0 && percent < 10 ? percent.toFixed(1) : percent.toFixed(0)) + "%";
}

// ---- Parts of the page ----

function section(id, title, ...children) {
  return element(
    "section",
    { id, "aria-labelledby": id + "-title" },
    element("h2", { id: id + "-title" }, title),
    ...children,
  );
}

function soft(...children) {
  return element("p", { class: "soft small" }, ...children);
}

function facts(rows) {
  return element(
    "dl",
    { class: "facts" },
    rows
      .filter((row) => row !== null)
      .flatMap(([name, ...value]) => [element("dt", {}, name), element("dd", {}, ...value)]),
  );
}

function choice(label, options, chosen, onChoice) {
  const select = element(
    "select",
    { onchange: () => onChoice(select.value) },
    options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
  return element("label", {}, label, select);
}

function meter(percent) {
  const over = percent > 100;
  return element(
    "span",
    { class: "meter" },
    element("i", {
      class: over ? "over" : null,
      style: `width:${Math.max(0, Math.min(percent, 100)) || 0}%`,
    }),
  );
}

// A table with all its rows, elements. The first `numbers` columns behind the first one hold numbers.
function wholeTable(titles, numbers, rows, caption) {
  const headings = titles.map((title, i) =>
    element("th", { scope: "col", class: i > 0 && i <= numbers ? "num" : null }, title),
  );
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      {},
      caption ? element("caption", {}, caption) : null,
      element("thead", {}, element("tr", {}, headings)),
      element("tbody", {}, rows),
    ),
  );
}

// A table that shows some rows at a time, sorted by any column.
// `columns`: {title, kind ("num", "wide", "name" or absent), cell(row) -> text or element, key(row) -> what
// it is sorted by; absent: it is not}. `rows` are numbers. `details`: {has(row), show(row) -> element}, which
// follows its row when the button of the first column is pressed.
class PagedTable {
  constructor({ caption, columns, rows, pageSize = 50, details = null }) {
    Object.assign(this, { columns, rows, pageSize, details, page: 0, sorted: null, open: new Set() });
    this.body = element("tbody");
    this.heads = columns.map((column, place) =>
      element(
        "th",
        { scope: "col", class: column.kind },
        column.key
          ? element("button", { type: "button", onclick: () => this.sort(place) }, column.title)
          : column.title,
      ),
    );
    this.place = element("span", { class: "small soft", "aria-live": "polite" });
    this.back = element("button", { type: "button", onclick: () => this.turn(-1) }, "Back");
    this.next = element("button", { type: "button", onclick: () => this.turn(1) }, "Next");
    this.pager = element(
      "div",
      { class: "controls" },
      this.back,
      this.next,
      this.place,
      choice(
        "Rows",
        [20, 50, 200, 1000].map((size) => [String(size), String(size)]),
        String(pageSize),
        (size) => {
          this.pageSize = Number(size);
          this.page = 0;
          this.draw();
        },
      ),
    );
    this.node = element(
      "div",
      {},
      element(
        "div",
        { class: "scroll" },
        element(
          "table",
          {},
          element("caption", {}, caption),
          element("thead", {}, element("tr", {}, this.heads)),
          this.body,
        ),
      ),
      this.pager,
    );
    this.draw();
  }

  setRows(rows) {
    this.rows = rows;
    this.page = 0;
    this.open.clear();
    if (this.sorted !== null) this.order();
    this.draw();
  }

  turn(pages) {
    this.page += pages;
    this.draw();
  }

  sort(place) {
    const isSame = this.sorted !== null && this.sorted.place === place;
    this.sorted = { place, falling: isSame ? !this.sorted.falling : this.columns[place].kind === "num" };
    this.heads.forEach((head, other) => {
      if (other === place) head.setAttribute("aria-sort", this.sorted.falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.page = 0;
    this.order();
    this.draw();
  }

  // Equal ones keep the order of the data.
  order() {
    const { place, falling } = this.sorted;
    const keys = new Map();
    for (const row of this.rows) keys.set(row, this.columns[place].key(row));
    const sign = falling ? -1 : 1;
    this.rows = Array.from(this.rows).sort((a, b) => {
      const x = keys.get(a);
      const y = keys.get(b);
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }

  draw() {
    const count = this.rows.length;
    const pages = Math.max(1, Math.ceil(count / this.pageSize));
    this.page = Math.max(0, Math.min(this.page, pages - 1));
    const first = this.page * this.pageSize;
    const shown = Array.from(this.rows.slice(first, first + this.pageSize));
    this.body.replaceChildren(...shown.flatMap((row) => this.rowsOf(row)));
    this.pager.hidden = count <= Math.min(20, this.pageSize);
    this.back.disabled = this.page === 0;
    this.next.disabled = this.page + 1 >= pages;
    const last = countText(first + shown.length);
    this.place.textContent = `${countText(first + 1)} to ${last} of ${countText(count)}`;
    if (count === 0) {
      this.body.append(
        element("tr", {}, element("td", { colspan: this.columns.length, class: "soft" }, "None.")),
      );
    }
  }

  rowsOf(row) {
    const hasDetails = this.details !== null && this.details.has(row);
    const isOpen = this.open.has(row);
    const cells = this.columns.map((column, place) => {
      const content = column.cell(row);
      const toggle = () => {
        if (isOpen) this.open.delete(row);
        else this.open.add(row);
        this.draw();
        const button = this.body.querySelector(`button[data-row="${row}"]`);
        if (button) button.focus();
      };
      return element(
        "td",
        { class: column.kind },
        place === 0 && hasDetails
          ? element(
              "button",
              {
                type: "button",
                class: "link",
                "data-row": row,
                "aria-expanded": String(isOpen),
                onclick: toggle,
              },
              content,
            )
          : content,
      );
    });
    const rows = [element("tr", {}, cells)];
    if (hasDetails && isOpen) {
      rows.push(
        element(
          "tr",
          { class: "details" },
          element("td", { colspan: this.columns.length }, this.details.show(row)),
        ),
      );
    }
    return rows;
  }
}
