// How things look: the theme's colours, points on a canvas, and when to draw again.

const MANY = 3000; // rows that are drawn with a marker each; more are dots

const FADED = 0.25;

const redraws = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Draw at once, and again when the theme, the width, or the paper changes.
function drawnBy(draw) {
  redraws.push(draw);
  draw();
}

// Return a function that draws once before the next frame, however often it is called.
function oncePerFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}

const redrawAll = () => redraws.forEach((draw) => draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
matchMedia("print").addEventListener("change", redrawAll);
addEventListener("resize", oncePerFrame(redrawAll));

// Give a canvas its pixels and return its context, in CSS pixels, and its width.
function freshCanvas(canvas, heightOf) {
  const width = Math.max(canvas.clientWidth, 200);
  const height = heightOf(width);
  const scale = Math.min(devicePixelRatio || 1, 2);
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d", { willReadFrequently: table.count > MANY });
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

const MARKERS = {
  o: (c, x, y, r) => { c.moveTo(x + r, y); c.arc(x, y, r, 0, 2 * Math.PI); },
  s: (c, x, y, r) => c.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
  "^": (c, x, y, r) => polygon(c, [[x, y - 1.2 * r], [x + 1.1 * r, y + 0.8 * r], [x - 1.1 * r, y + 0.8 * r]]),
  v: (c, x, y, r) => polygon(c, [[x, y + 1.2 * r], [x + 1.1 * r, y - 0.8 * r], [x - 1.1 * r, y - 0.8 * r]]),
  D: (c, x, y, r) => polygon(c, [[x, y - 1.25 * r], [x + 1.25 * r, y], [x, y + 1.25 * r], [x - 1.25 * r, y]]),
  P: (c, x, y, r) => { c.rect(x - r, y - 0.4 * r, 2 * r, 0.8 * r); c.rect(x - 0.4 * r, y - r, 0.8 * r, 2 * r); },
};

function polygon(context, corners) {
  corners.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

// Draw all rows at pixels xs, ys: small groups last, selected rows over the others.
function drawPoints(context, xs, ys) {
  const layers = selection.count ? [[0, FADED], [1, 1]] : [[0, 0.85]];
  if (table.count > MANY) {
    drawDots(context, xs, ys, layers);
  } else {
    layers.forEach(([chosen, opacity]) => drawMarkers(context, xs, ys, chosen, opacity));
  }
}

function drawMarkers(context, xs, ys, chosen, opacity) {
  const radius = table.count > 400 ? 2.8 : 4;
  context.globalAlpha = opacity;
  for (const group of table.order) {
    const { colour: fill, marker } = table.groups[group];
    context.fillStyle = fill;
    for (const row of rowsOfGroup[group]) {
      if (selection.chosen[row] !== chosen) continue;
      context.beginPath();
      MARKERS[marker](context, xs[row], ys[row], radius);
      context.fill();
    }
  }
  context.globalAlpha = 1;
}

// Mix dots into the pixels: for a hundred thousand of them this is ten times as fast as shapes.
function drawDots(context, xs, ys, layers) {
  const { canvas } = context;
  const scale = context.getTransform().a;
  const image = context.getImageData(0, 0, canvas.width, canvas.height);
  const size = Math.round((table.count > 20000 ? 1.6 : 2) * scale);
  for (const [chosen, opacity] of layers) {
    for (const group of table.order) {
      const { colour: fill } = table.groups[group];
      const ink = [1, 3, 5].map((place) => parseInt(fill.slice(place, place + 2), 16));
      for (const row of rowsOfGroup[group]) {
        if (selection.chosen[row] === chosen) {
          mixDot(image, Math.round(xs[row] * scale), Math.round(ys[row] * scale), size, ink, 0.7 * opacity);
        }
      }
    }
  }
  context.putImageData(image, 0, 0);
}

// Lay a square of ink over the pixels, which may be transparent.
function mixDot({ data, width, height }, left, top, size, [red, green, blue], opacity) {
  for (let y = Math.max(top, 0); y < Math.min(top + size, height); y += 1) {
    for (let x = Math.max(left, 0); x < Math.min(left + size, width); x += 1) {
      const at = 4 * (y * width + x);
      const under = (data[at + 3] / 255) * (1 - opacity);
      const whole = opacity + under;
      data[at] = (red * opacity + data[at] * under) / whole;
      data[at + 1] = (green * opacity + data[at + 1] * under) / whole;
      data[at + 2] = (blue * opacity + data[at + 2] * under) / whole;
      data[at + 3] = 255 * whole;
    }
  }
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes = {}, text = null) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

function html(tag, properties = {}, ...content) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}
