// The tour: rows turning smoothly through planes of the directions' span.

const RADIANS_A_SECOND = 0.5;
const REST = 900; // milliseconds at a plane of two directions
const ARM = 0.4; // length of an axis that lies in the plane, as a part of the picture

class Tour {
  constructor({ centres, scales, toSpan, axes }) {
    this.canvas = document.getElementById("tour-canvas");
    this.vectors = axes;
    this.size = toSpan[0].length;
    this.random = seeded(1);
    this.rows = this.spanRows(centres, scales, toSpan);
    this.xs = new Float32Array(table.count);
    this.ys = new Float32Array(table.count);
    this.plane = this.firstPlane();
    this.reach = this.furthest();
    this.playing = false;
    this.turn = 0;
    this.buttons = axes.map((_, place) => this.axisButton(place));
    this.redraw = oncePerFrame(() => this.draw());
    this.play = document.getElementById("tour-play");
    this.speed = document.getElementById("tour-speed");
    this.where = document.getElementById("tour-where");
    this.play.addEventListener("click", () => this.toggle());
    selection.listeners.push(() => this.redraw());
    drawnBy(() => this.draw());
  }

  // Coordinates of the rows in the span, one row after the other.
  spanRows(centres, scales, toSpan) {
    const rows = new Float32Array(table.count * this.size);
    centres.forEach((centre, axis) => {
      const { codes } = table.axes[axis];
      for (let row = 0; row < table.count; row += 1) {
        const score = (codes[row] - centre) / scales[axis];
        for (let place = 0; place < this.size; place += 1) {
          rows[row * this.size + place] += score * toSpan[axis][place];
        }
      }
    });
    return rows;
  }

  firstPlane() {
    const [first, ...others] = this.vectors;
    const other = others.find((vector) => Math.abs(dot(vector, first)) < 0.99);
    return frame(first, other || randomVector(this.size, this.random));
  }

  furthest() {
    let most = 1e-9;
    for (let view = 0; view < 12; view += 1) {
      const [x, y] = view ? this.randomPlane() : this.plane;
      this.project(x, y, 1, 0, 0);
      for (let row = 0; row < table.count; row += 1) most = Math.max(most, Math.hypot(this.xs[row], this.ys[row]));
    }
    return most;
  }

  randomPlane() {
    return frame(randomVector(this.size, this.random), randomVector(this.size, this.random));
  }

  project(x, y, scale, centreX, centreY) {
    const { rows, size } = this;
    for (let row = 0; row < table.count; row += 1) {
      let [a, b] = [0, 0];
      for (let place = 0, at = row * size; place < size; place += 1, at += 1) {
        a += rows[at] * x[place];
        b += rows[at] * y[place];
      }
      this.xs[row] = centreX + scale * a;
      this.ys[row] = centreY - scale * b;
    }
  }

  draw() {
    const { context, width, height } = freshCanvas(this.canvas, (w) => Math.min(0.86 * w, 480));
    const [x, y] = this.plane;
    const half = Math.min(width, height) / 2;
    this.middle = [width / 2, height / 2];
    this.arm = 2 * half * ARM;
    this.project(x, y, (0.94 * half) / this.reach, ...this.middle);
    this.drawArms(context, x, y);
    drawPoints(context, this.xs, this.ys);
    this.canvas.setAttribute("aria-label", `Tour of ${this.vectors.length} axes: ${selection.words()}.`);
  }

  drawArms(context, x, y) {
    const [left, top] = this.middle;
    context.strokeStyle = colour("strong-rule");
    context.lineWidth = 1;
    this.vectors.forEach((vector, place) => {
      const [a, b] = [left + this.arm * dot(x, vector), top - this.arm * dot(y, vector)];
      context.beginPath();
      context.moveTo(left, top);
      context.lineTo(a, b);
      context.stroke();
      this.buttons[place].style.transform = `translate(${a}px, ${b}px) translate(-50%, -50%)`;
    });
  }

  axisButton(place) {
    const axis = table.axes[place];
    const button = html("button", { type: "button" }, axis.short);
    button.setAttribute("aria-label", `Axis ${axis.short} of the tour, ${axis.name}: move it with the arrow keys`);
    button.addEventListener("pointerdown", (event) => this.drag(event, button, place));
    button.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-0.06, 0], ArrowRight: [0.06, 0], ArrowUp: [0, 0.06], ArrowDown: [0, -0.06] };
      if (!moves[event.key]) return;
      event.preventDefault();
      const [x, y] = this.plane.map((side) => dot(side, this.vectors[place]));
      this.turnAxis(place, x + moves[event.key][0], y + moves[event.key][1]);
    });
    document.getElementById("tour-axes").append(button);
    return button;
  }

  drag(event, button, place) {
    event.preventDefault();
    button.focus();
    button.setPointerCapture(event.pointerId);
    const move = (to) => {
      const box = this.canvas.getBoundingClientRect();
      const [left, top] = this.middle;
      this.turnAxis(place, (to.clientX - box.left - left) / this.arm, (top - (to.clientY - box.top)) / this.arm);
    };
    const stop = () => button.removeEventListener("pointermove", move);
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", stop, { once: true });
    button.addEventListener("pointercancel", stop, { once: true });
  }

  turnAxis(place, x, y) {
    this.way = null;
    this.plane = turnTowards(this.plane, this.vectors[place], x, y);
    this.redraw();
  }

  toggle() {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "Pause the tour" : "Play the tour";
    this.last = null;
    if (this.playing) requestAnimationFrame((now) => this.step(now));
    else this.where.textContent = "";
  }

  step(now) {
    if (!this.playing) return;
    const passed = Math.min(now - (this.last ?? now), 100) * Number(this.speed.value);
    this.last = now;
    if (this.size === 2) {
      this.plane = spin(this.plane, (passed / 1000) * RADIANS_A_SECOND);
    } else {
      this.advance(passed);
    }
    this.draw();
    requestAnimationFrame((later) => this.step(later));
  }

  advance(passed) {
    if (!this.way) this.setOut();
    this.way.passed += passed;
    const part = Math.min(this.way.passed / this.way.duration, 1);
    this.plane = this.way.at(part);
    if (this.way.passed > this.way.duration + this.way.rest) this.way = null;
  }

  // Go on to the next plane: of two directions, and every other time a random one.
  setOut() {
    const named = Math.min(this.vectors.length, 4);
    const pairs = [];
    for (let i = 0; i < named; i += 1) for (let j = i + 1; j < named; j += 1) pairs.push([i, j]);
    const toPair = this.turn % 2 === 1;
    const [i, j] = pairs[((this.turn + 1) / 2) % pairs.length | 0];
    const goal = toPair ? frame(this.vectors[i], this.vectors[j]) : this.randomPlane();
    const { length, at } = geodesic(this.plane, goal);
    this.turn += 1;
    this.way = { at, passed: 0, duration: Math.max((length / RADIANS_A_SECOND) * 1000, 1), rest: toPair ? REST : 0 };
    const names = [i, j].map((place) => table.axes[place].name.toLowerCase());
    this.where.textContent = toPair ? `Towards ${names[0]} and ${names[1]}.` : "Towards a random view.";
  }
}
