// One selection of rows, shared by every panel.

const selection = {
  chosen: new Uint8Array(table.count),
  count: 0,
  origin: null,
  base: new Uint8Array(table.count),
  listeners: [],

  get mode() {
    return document.getElementById("mode").value;
  },

  // From now on `update` starts from the rows that are selected at present.
  begin(origin) {
    this.base.set(this.chosen);
    this.origin = origin;
  },

  // Select the rows for which `inside` holds, in the way that the mode says.
  update(inside, origin) {
    if (this.origin !== origin) this.begin(origin);
    const some = this.base.includes(1);
    const mode = this.mode === "narrow" && !some ? "replace" : this.mode;
    for (let row = 0; row < table.count; row += 1) {
      const hit = inside(row);
      const before = this.base[row] === 1;
      this.chosen[row] = (mode === "add" ? before || hit : hit && (mode === "replace" || before)) ? 1 : 0;
    }
    this.announce();
  },

  clear() {
    this.chosen.fill(0);
    this.begin(null);
    this.announce();
  },

  announce() {
    this.count = this.chosen.reduce((sum, one) => sum + one, 0);
    this.listeners.forEach((listener) => listener(this.origin));
  },

  rows() {
    const rows = [];
    this.chosen.forEach((one, row) => { if (one) rows.push(row); });
    return rows;
  },

  words() {
    return `${whole(this.count)} of ${whole(table.count)} rows selected`;
  },
};
