// The histogram of one direction: stacked by group, strips under it, a range to select rows by.

const PLOT = 190; // height of the bars
const STRIP = 14; // height of a group's strip
const STRIP_BINS = 400;

class Histogram {
  constructor(place) {
    this.axis = table.axes[Number(place.dataset.axis)];
    this.name = this.axis.name.toLowerCase();
    this.brush = null;
    this.place = place;
    this.svg = svg("svg", { role: "img" });
    place.append(this.svg, this.controls());
    this.bins = this.binCount();
    this.binOf = this.places(this.bins);
    this.stripOf = this.places(STRIP_BINS);
    this.all = this.count(null);
    this.svg.addEventListener("pointerdown", (event) => this.startBrush(event));
    selection.listeners.push((origin) => {
      if (origin !== this) this.show(null);
      this.redraw();
    });
    this.redraw = oncePerFrame(() => this.draw());
    drawnBy(() => this.draw());
  }

  controls() {
    const field = (label) => {
      const input = html("input", { type: "number", step: "any", oninput: () => this.readFields() });
      input.setAttribute("aria-label", `Select ${this.name} ${label}`);
      return input;
    };
    this.from = field("from");
    this.to = field("to");
    const made = html("div", { className: "controls" },
      html("label", {}, "Select from ", this.from), html("label", {}, "to ", this.to));
    if (this.axis.cut !== null) {
      const button = html("button", { type: "button", onclick: () => this.selectSmallSide() }, "Select small side");
      button.setAttribute("aria-label", `Select small side of ${this.name}`);
      made.append(button);
    }
    return made;
  }

  // Freedman and Diaconis' number of bins, within what an eye takes in.
  binCount() {
    const sorted = this.axis.codes.slice().sort();
    const quartile = (part) => sorted[Math.floor(part * (sorted.length - 1))];
    const width = (2 * (quartile(0.75) - quartile(0.25))) / Math.cbrt(table.total);
    return width > 0 ? Math.min(Math.max(Math.ceil(STEPS / width), 12), 80) : 40;
  }

  // The bin of every row, of `bins` equal ones.
  places(bins) {
    return Uint16Array.from(this.axis.codes, (code) => Math.min(Math.floor((code * bins) / STEPS), bins - 1));
  }

  // Add up what rows stand for, by group and bin: all rows, or those that a mask marks.
  count(mask) {
    const sums = table.groups.map(() => new Float64Array(this.bins));
    for (let row = 0; row < table.count; row += 1) {
      if (!mask || mask[row]) sums[table.group[row]][this.binOf[row]] += table.weights[row];
    }
    return sums;
  }

  // Mark where each group has rows.
  occupied(mask) {
    const marks = table.groups.map(() => new Uint8Array(STRIP_BINS));
    for (let row = 0; row < table.count; row += 1) {
      if (!mask || mask[row]) marks[table.group[row]][this.stripOf[row]] = 1;
    }
    return marks;
  }

  draw() {
    const width = Math.max(this.place.clientWidth, 240);
    const strips = table.groups.length > 1 ? table.groups.length : 0;
    this.left = width < 480 ? 84 : 118;
    this.right = width - 14;
    const floor = PLOT + strips * STRIP + (strips ? 10 : 0);
    const height = floor + 26;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("aria-label", `Histogram of ${this.name}: ${selection.words()}.`);
    this.svg.replaceChildren();
    this.drawBars();
    this.drawStrips(strips);
    this.drawAxis(floor);
    this.drawThreshold();
    this.drawBrush(floor);
  }

  x(code) {
    return this.left + (code / STEPS) * (this.right - this.left);
  }

  drawBars() {
    const heights = new Float64Array(this.bins);
    this.all.forEach((sums) => sums.forEach((sum, bin) => { heights[bin] += sum; }));
    const tallest = Math.max(...heights);
    const scale = (PLOT - 24) / tallest;
    for (const tick of ticks(0, tallest, 4)) {
      if (tick % 1) continue;
      const y = PLOT - tick * scale;
      this.svg.append(svg("text", { x: this.left - 8, y: y + 4, "text-anchor": "end" }, whole(tick)));
    }
    const some = selection.count > 0;
    this.stack(this.all, scale, some ? "faded" : "bars");
    if (some) this.stack(this.count(selection.chosen), scale, "chosen");
  }

  stack(counts, scale, kind) {
    const floors = new Float64Array(this.bins).fill(PLOT);
    const step = (this.right - this.left) / this.bins;
    for (const group of table.order) {
      let path = "";
      counts[group].forEach((sum, bin) => {
        if (!sum) return;
        const tall = sum * scale;
        floors[bin] -= tall;
        path += `M${this.left + bin * step + 0.5} ${floors[bin]}h${Math.max(step - 1, 0.8)}v${tall}h${-Math.max(step - 1, 0.8)}z`;
      });
      if (path) this.svg.append(svg("path", { d: path, fill: table.groups[group].colour, class: kind }));
    }
  }

  drawStrips(strips) {
    if (!strips) return;
    const layers = selection.count
      ? [["faded", this.occupied(null)], ["chosen", this.occupied(selection.chosen)]]
      : [["bars", this.occupied(null)]];
    table.groups.forEach(({ name, colour: fill }, group) => {
      const top = PLOT + 8 + group * STRIP;
      const label = svg("text", { x: this.left - 8, y: top + 10, "text-anchor": "end" }, this.fit(name));
      label.append(svg("title", {}, name));
      this.svg.append(label);
      for (const [kind, marks] of layers) {
        let path = "";
        marks[group].forEach((mark, place) => {
          if (mark) path += `M${this.x(((place + 0.5) * STEPS) / STRIP_BINS)} ${top + 1}v${STRIP - 3}`;
        });
        if (path) this.svg.append(svg("path", { d: path, stroke: fill, "stroke-width": 1.4, class: kind }));
      }
    });
  }

  fit(name) {
    const room = Math.floor((this.left - 12) / 6.6);
    return name.length > room ? `${name.slice(0, room - 1)}\u2026` : name;
  }

  drawAxis(floor) {
    const { low, high } = this.axis;
    this.svg.append(svg("path", { d: `M${this.left} ${PLOT + 0.5}H${this.right}`, class: "axis", fill: "none" }));
    for (const tick of ticks(low, high, this.right - this.left > 400 ? 8 : 4)) {
      const x = this.x(this.axis.code(tick));
      this.svg.append(svg("path", { d: `M${x} ${floor + 1}v4`, class: "axis" }));
      this.svg.append(svg("text", { x, y: floor + 19, "text-anchor": "middle" }, number(tick)));
    }
  }

  drawThreshold() {
    const { cut, threshold } = this.axis;
    if (cut === null) return;
    const x = this.x(cut - 0.5);
    const before = x > this.left + 0.7 * (this.right - this.left);
    this.svg.append(svg("path", { d: `M${x} 4V${PLOT}`, class: "threshold" }));
    this.svg.append(svg("text", { x: x + (before ? -6 : 6), y: 14, "text-anchor": before ? "end" : "start" }, `threshold ${number(threshold)}`));
  }

  drawBrush(floor) {
    if (!this.brush) return;
    const [from, to] = this.brush.map((code) => this.x(code));
    this.svg.append(svg("rect", { x: from, y: 20, width: Math.max(to - from, 1), height: floor - 20, class: "brush" }));
  }

  startBrush(event) {
    if (event.button !== 0) return;
    const codeAt = (at) => {
      const box = this.svg.getBoundingClientRect();
      const part = (at.clientX - box.left - this.left) / (this.right - this.left);
      return Math.round(Math.min(Math.max(part, 0), 1) * STEPS);
    };
    const start = codeAt(event);
    let moved = false;
    this.svg.setPointerCapture(event.pointerId);
    const move = (to) => {
      if (!moved && Math.abs(to.clientX - event.clientX) < 4) return;
      if (!moved) selection.begin(this);
      moved = true;
      const end = codeAt(to);
      this.select(Math.min(start, end), Math.max(start, end));
    };
    const stop = () => {
      this.svg.removeEventListener("pointermove", move);
      if (!moved) selection.clear();
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", stop, { once: true });
    this.svg.addEventListener("pointercancel", () => this.svg.removeEventListener("pointermove", move), { once: true });
  }

  select(from, to, keepFields = false) {
    this.show([from, to], keepFields);
    const { codes } = this.axis;
    selection.update((row) => codes[row] >= from && codes[row] <= to, this);
  }

  selectSmallSide() {
    const { cut, above } = this.axis;
    selection.begin(this);
    this.select(above ? cut : 0, above ? STEPS : cut - 1);
  }

  // Keep the range that is selected and write it into the fields.
  show(brush, keepFields = false) {
    this.brush = brush;
    if (keepFields) return;
    const text = (code) => String(Number(this.axis.value(code).toPrecision(5)));
    this.from.value = brush ? text(brush[0]) : "";
    this.to.value = brush ? text(brush[1]) : "";
  }

  readFields() {
    if (this.from.value === "" && this.to.value === "") return;
    const { low, high } = this.axis;
    const from = this.from.value === "" ? low : Number(this.from.value);
    const to = this.to.value === "" ? high : Number(this.to.value);
    const inside = (code) => Math.min(Math.max(code, 0), STEPS);
    this.select(inside(Math.ceil(this.axis.code(from))), inside(Math.floor(this.axis.code(to))), true);
  }
}
