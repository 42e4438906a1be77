// Putting the page together: legend, status, export.

function swatch({ colour: fill, marker }) {
  const picture = svg("svg", { width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" });
  const corners = [];
  const pen = {
    moveTo: (x, y) => corners.push(`M${x} ${y}`),
    lineTo: (x, y) => corners.push(`L${x} ${y}`),
    closePath: () => corners.push("z"),
    rect: (x, y, w, h) => corners.push(`M${x} ${y}h${w}v${h}h${-w}z`),
    arc: (x, y, r) => corners.push(`a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0`),
  };
  MARKERS[marker](pen, 6, 6, 4.5);
  picture.append(svg("path", { d: corners.join(""), fill }));
  return picture;
}

function makeLegend() {
  const legend = document.getElementById("legend");
  table.groups.forEach((group, place) => {
    const origin = { legend: place };
    legend.append(html("button", {
      type: "button",
      onclick: () => {
        selection.begin(origin);
        selection.update((row) => table.group[row] === place, origin);
      },
    }, swatch(group), html("bdi", {}, group.name), html("span", { className: "count" }, whole(group.count))));
  });
  legend.hidden = table.groups.length < 2;
}

function statusWords() {
  if (!selection.count) return "No rows are selected.";
  const rows = selection.rows();
  if (!table.sampled) {
    return `${whole(selection.count)} of ${whole(table.count)} rows are selected (${number((100 * selection.count) / table.count, 3)}\u202f%).`;
  }
  const standing = rows.reduce((sum, row) => sum + table.weights[row], 0);
  return `${whole(selection.count)} drawn rows are selected; they stand for about ${whole(standing)} of ${whole(table.total)}.`;
}

function exportRows() {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = ["row", ...selection.rows().map((row) => quoted(table.id(row)))];
  const file = new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" });
  const link = html("a", { href: URL.createObjectURL(file), download: "selected-rows.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function connectBar() {
  const status = document.getElementById("status");
  const buttons = ["export", "clear"].map((id) => document.getElementById(id));
  const [exporting, clearing] = buttons;
  const show = oncePerFrame(() => {
    status.textContent = statusWords();
    buttons.forEach((button) => { button.disabled = !selection.count; });
    document.getElementById("bar").classList.toggle("idle", !selection.count);
  });
  exporting.addEventListener("click", exportRows);
  clearing.addEventListener("click", () => selection.clear());
  document.getElementById("mode").addEventListener("change", () => selection.begin(null));
  selection.listeners.push(show);
  show();
}

function printWhole() {
  const folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((details) => { details.open = true; });
  redrawAll();
  addEventListener("afterprint", () => {
    folded.forEach((details) => { details.open = false; });
    redrawAll();
  }, { once: true });
}

makeLegend();
connectBar();
document.querySelectorAll(".histogram").forEach((place) => new Histogram(place));
if (table.axes.length > 1) new Scatter();
if (packed.tour) new Tour(packed.tour);
addEventListener("beforeprint", printWhole);
