// Rows along two axes, with a lasso to select them.

const EDGE = { left: 46, right: 12, top: 22, bottom: 34 };
const FONT = "12px system-ui, sans-serif";

class Scatter {
  constructor() {
    this.canvas = document.getElementById("scatter-canvas");
    this.across = this.chooser("scatter-x", 0);
    this.up = this.chooser("scatter-y", Math.min(1, table.axes.length - 1));
    this.xs = new Float32Array(table.count);
    this.ys = new Float32Array(table.count);
    this.lasso = [];
    this.cross = null;
    this.redraw = oncePerFrame(() => this.draw());
    this.listen();
    selection.listeners.push((origin) => {
      if (origin !== this) this.lasso = [];
      this.redraw();
    });
    drawnBy(() => this.draw());
  }

  chooser(id, chosen) {
    const made = document.getElementById(id);
    table.axes.forEach((axis, place) => made.append(new Option(axis.name, place)));
    made.value = chosen;
    made.addEventListener("change", () => { this.lasso = []; this.draw(); });
    return made;
  }

  listen() {
    const touch = document.getElementById("scatter-touch");
    touch.hidden = navigator.maxTouchPoints === 0;
    this.canvas.classList.add("scrolls");
    touch.addEventListener("click", () => {
      const on = touch.getAttribute("aria-pressed") !== "true";
      touch.setAttribute("aria-pressed", on);
      this.canvas.classList.toggle("scrolls", !on);
    });
    this.canvas.addEventListener("pointerdown", (event) => {
      const scrolls = event.pointerType === "touch" && this.canvas.classList.contains("scrolls");
      if (event.button === 0 && !scrolls) this.startLasso(event);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => { this.cross = null; this.redraw(); });
  }

  draw() {
    const { context, width, height } = freshCanvas(this.canvas, (w) => Math.min(0.86 * w, 480));
    this.size = { width, height };
    const x = table.axes[this.across.value];
    const y = table.axes[this.up.value];
    context.font = FONT;
    const marks = ticks(y.low, y.high, 6);
    const widest = Math.max(...marks.map((mark) => context.measureText(number(mark)).width));
    this.edge = Math.max(EDGE.left, widest + 12);
    const [left, right] = [this.edge + 8, width - EDGE.right - 8];
    const [top, bottom] = [EDGE.top + 8, height - EDGE.bottom - 8];
    const toX = (code) => left + (code / STEPS) * (right - left);
    const toY = (code) => bottom - (code / STEPS) * (bottom - top);
    for (let row = 0; row < table.count; row += 1) {
      this.xs[row] = toX(x.codes[row]);
      this.ys[row] = toY(y.codes[row]);
    }
    this.drawFrame(context, x, y, toX);
    context.textAlign = "right";
    marks.forEach((mark) => context.fillText(number(mark), this.edge - 6, toY(y.code(mark)) + 4));
    drawPoints(context, this.xs, this.ys);
    this.drawLasso(context);
    this.canvas.setAttribute("aria-label", `Scatter of ${x.name.toLowerCase()} across and ${y.name.toLowerCase()} up: ${selection.words()}.`);
  }

  drawFrame(context, x, y, toX) {
    const { width, height } = this.size;
    context.strokeStyle = colour("strong-rule");
    context.fillStyle = colour("soft");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.edge + 0.5, EDGE.top);
    context.lineTo(this.edge + 0.5, height - EDGE.bottom + 0.5);
    context.lineTo(width - EDGE.right, height - EDGE.bottom + 0.5);
    context.stroke();
    context.textAlign = "center";
    for (const tick of ticks(x.low, x.high, width > 420 ? 6 : 4)) {
      context.fillText(number(tick), toX(x.code(tick)), height - EDGE.bottom + 16);
    }
    context.textAlign = "right";
    context.fillText(x.name, width - EDGE.right, height - 3);
    context.textAlign = "left";
    context.fillText(y.name, this.edge - 6, EDGE.top - 9);
  }

  drawLasso(context) {
    context.strokeStyle = colour("accent");
    context.lineWidth = 1.5;
    if (this.lasso.length > 1) {
      context.beginPath();
      polygon(context, this.lasso);
      context.fillStyle = colour("shade");
      context.fill();
      context.stroke();
    }
    if (this.cross) {
      const [x, y] = this.cross;
      context.beginPath();
      [[-9, 0, 9, 0], [0, -9, 0, 9]].forEach(([a, b, c, d]) => {
        context.moveTo(x + a, y + b);
        context.lineTo(x + c, y + d);
      });
      this.lasso.forEach(([a, b]) => context.rect(a - 2, b - 2, 4, 4));
      context.stroke();
    }
  }

  startLasso(event) {
    const at = (where) => {
      const box = this.canvas.getBoundingClientRect();
      return [where.clientX - box.left, where.clientY - box.top];
    };
    this.lasso = [at(event)];
    this.canvas.setPointerCapture(event.pointerId);
    const move = (to) => { this.lasso.push(at(to)); this.redraw(); };
    const stop = () => {
      this.canvas.removeEventListener("pointermove", move);
      if (this.lasso.length > 2) this.select();
      else selection.clear();
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", stop, { once: true });
    this.canvas.addEventListener("pointercancel", () => {
      this.canvas.removeEventListener("pointermove", move);
      this.lasso = [];
      this.redraw();
    }, { once: true });
  }

  select() {
    selection.begin(this);
    selection.update((row) => inPolygon(this.xs[row], this.ys[row], this.lasso), this);
  }

  key(event) {
    const step = event.shiftKey ? 40 : 8;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (!this.cross) this.cross = [this.size.width / 2, this.size.height / 2];
    if (moves[event.key]) {
      const [x, y] = moves[event.key];
      this.cross = [
        Math.min(Math.max(this.cross[0] + x, 0), this.size.width),
        Math.min(Math.max(this.cross[1] + y, 0), this.size.height),
      ];
    } else if (event.key === " ") {
      if (selection.origin === this) selection.begin(null), this.lasso = [];
      this.lasso.push(this.cross);
    } else if (event.key === "Enter" && this.lasso.length > 2) {
      this.select();
    } else if (event.key === "Escape") {
      this.lasso = [];
    } else {
      return;
    }
    event.preventDefault();
    this.redraw();
  }
}

// Whether a point is inside: a ray to the right crosses the outline an odd number of times.
function inPolygon(x, y, corners) {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i, i += 1) {
    const [ax, ay] = corners[i];
    const [bx, by] = corners[j];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
  }
  return inside;
}
