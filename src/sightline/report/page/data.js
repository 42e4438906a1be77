// The rows that are drawn: packed codes along each axis, groups, weights, ids.

const STEPS = 65535;

const packed = JSON.parse(document.getElementById("data").textContent);

function bytes(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function makeAxis(axis, place) {
  const step = (axis.high - axis.low) / STEPS;
  return {
    ...axis,
    place,
    codes: new Uint16Array(bytes(axis.codes).buffer),
    value: (code) => axis.low + code * step,
    code: (value) => (value - axis.low) / step,
  };
}

function makeTable() {
  const strata = bytes(packed.strata);
  const numbers = packed.ids.numbers && new Uint32Array(bytes(packed.ids.numbers).buffer);
  return {
    count: packed.rows,
    total: packed.total,
    sampled: packed.rows < packed.total,
    axes: packed.axes.map(makeAxis),
    groups: packed.groups,
    order: packed.drawingOrder,
    group: bytes(packed.codes),
    weights: Float64Array.from(strata, (stratum) => packed.weights[stratum]),
    id: (row) => (numbers ? String(numbers[row]) : packed.ids.texts[row]),
  };
}

const table = makeTable();

const rowsOfGroup = table.groups.map(() => []);
for (let row = 0; row < table.count; row += 1) rowsOfGroup[table.group[row]].push(row);

function number(value, digits = 4) {
  const text = Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6
    ? String(Number(value.toPrecision(digits)))
    : value.toExponential(digits - 1).replace(/\.?0+e/, "e");
  return (value === 0 ? "0" : text).replace(/-/g, "\u2212");
}

function whole(value) {
  return Math.round(value).toLocaleString("en");
}

// Round steps between `low` and `high`, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const places = [];
  for (let place = Math.ceil(low / step); place * step <= high; place += 1) places.push(place * step);
  return places;
}
