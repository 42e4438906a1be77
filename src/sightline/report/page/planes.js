// Planes of the span, as frames [x, y] of two orthonormal vectors, and the ways between them.

const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);
const mix = (a, p, b, q) => a.map((value, place) => p * value + q * b[place]);
const unit = (a) => {
  const length = Math.hypot(...a);
  return length > 1e-9 ? a.map((value) => value / length) : a.map(() => 0);
};

// The frame of the plane through a and b, with x along a.
function frame(a, b) {
  const x = unit(a);
  return [x, unit(mix(b, 1, x, -dot(x, b)))];
}

function randomVector(size, random) {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: size }, normal);
}

// A small seeded generator, so that a page shows the same tour every time (mulberry32).
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// The shortest way from one plane to another (Buja, Cook, Asimov and Hurley 2005): a rotation by
// each principal angle. Returns the length and the frame at a part t of the way.
function geodesic(from, to) {
  const [a, b, c, d] = [dot(from[0], to[0]), dot(from[0], to[1]), dot(from[1], to[0]), dot(from[1], to[1])];
  const [e, f, g, h] = [(a + d) / 2, (a - d) / 2, (c + b) / 2, (c - b) / 2];
  const phi = (Math.atan2(h, e) + Math.atan2(g, f)) / 2;
  const theta = (Math.atan2(h, e) - Math.atan2(g, f)) / 2;
  const cosines = [Math.hypot(e, h) + Math.hypot(f, g), Math.hypot(e, h) - Math.hypot(f, g)];
  const turned = (pair, p, q, r, s) => [mix(pair[0], p, pair[1], q), mix(pair[0], r, pair[1], s)];
  const [cp, sp, ct, st] = [Math.cos(phi), Math.sin(phi), Math.cos(theta), Math.sin(theta)];
  const starts = turned(from, cp, sp, -sp, cp);
  const ends = turned(to, ct, -st, st, ct);
  const angles = cosines.map((value) => Math.acos(Math.min(Math.abs(value), 1)));
  const sides = ends.map((end, place) => {
    const facing = cosines[place] < 0 ? end.map((value) => -value) : end;
    return unit(mix(facing, 1, starts[place], -dot(facing, starts[place])));
  });
  const at = (t) => {
    const moved = starts.map((start, place) =>
      mix(start, Math.cos(t * angles[place]), sides[place], Math.sin(t * angles[place])));
    return frame(...turned(moved, cp, -sp, sp, cp));
  };
  return { length: Math.hypot(...angles), at };
}

// Turn the plane so that a unit vector's shadow on it moves to (p, q): the smallest rotation in the
// space of the plane and the vector (Cook and Buja 1997).
function turnTowards([x, y], vector, p, q) {
  const [a, b] = [dot(x, vector), dot(y, vector)];
  let out = mix(mix(vector, 1, x, -a), 1, y, -b);
  if (Math.hypot(...out) < 1e-6) {
    out = vector.map((_, place) => (place === 0 ? 1 : 0.5 / (place + 1)));
    out = mix(mix(out, 1, x, -dot(x, out)), 1, y, -dot(y, out));
  }
  if (Math.hypot(...out) < 1e-6) return spin([x, y], Math.atan2(b, a) - Math.atan2(q, p));
  out = unit(out);
  const length = Math.min(Math.hypot(p, q), 0.999) / Math.max(Math.hypot(p, q), 1e-9);
  const goal = [p * length, q * length];
  const now = [a, b, Math.max(dot(out, vector), 0)];
  const then = [...goal, Math.sqrt(1 - goal[0] ** 2 - goal[1] ** 2)];
  const [u, v, w] = [
    now[1] * then[2] - now[2] * then[1],
    now[2] * then[0] - now[0] * then[2],
    now[0] * then[1] - now[1] * then[0],
  ];
  const k = 1 / (1 + dot(now, then));
  const rows = [
    [1 - k * (v * v + w * w), k * u * v - w, k * u * w + v],
    [k * u * v + w, 1 - k * (u * u + w * w), k * v * w - u],
  ];
  return frame(...rows.map(([i, j, l]) => mix(mix(x, i, y, j), 1, out, l)));
}

// Turn a frame within its plane.
function spin([x, y], angle) {
  return [mix(x, Math.cos(angle), y, Math.sin(angle)), mix(x, -Math.sin(angle), y, Math.cos(angle))];
}
