// The element under the pointer or the selected one: its tooltip, its description, and its line in the source.
Timeline.details = (data, view, state, redraw) => {
  const tip = document.getElementById("tip");
  const sentence = document.getElementById("selected");
  const code = document.getElementById("code");

  const instruction = (i) => {
    const row = data.rows[data.rowOf[i]];
    const line = data.lines[data.pc[i]];
    const start = data.start(i);
    const waits = data.waits[i] > 0 ? `, waits ${data.waits[i]} for its unit` : "";
    return `${data.texts[data.pc[i]]}\nwarp ${row.warp} of block ${row.block}, ${line > 0 ? `line ${line}, ` : ""}pc ${data.pc[i]}, unit ${data.units[data.unit[i]]}\n`
      + `issue ${data.issue[i]}${waits}, start ${start}, unit free ${data.initEnd(i)}, done ${data.done(i)}`;
  };

  // returns the element at a position of the canvas
  const at = (x, y) => {
    const { layout } = state;
    if (x < layout.labels || y < layout.ruler) return null;
    const cycle = view.cycle(x - layout.labels);
    const inside = y - layout.ruler + view.top;
    const item = layout.items.find((one) => inside >= one.y && inside < one.y + one.height + 1);
    if (!item) return null;
    const found = (set) => {
      const i = data.lowerBound(set.from, 0, set.from.length, cycle + 1e-9) - 1;
      return i >= 0 && cycle < set.to[i] ? i : -1;
    };
    if (item.kind === "warp") {
      const { row } = item;
      const lane = Math.floor((inside - item.y - 1) / layout.lane);
      const next = data.lowerBound(data.issue, row.first, row.last, cycle + 1e-9);
      const slack = 3 / view.scale();
      for (let i = next - 1; i >= row.first && i > next - 200; i -= 1) {
        if (data.lane[i] === lane && cycle < Math.max(data.done(i), data.issue[i] + slack)) return { instruction: i };
      }
      const wait = row.waitsAt.find((one) => cycle >= one.from && cycle < one.to);
      if (wait) return { text: `warp ${row.warp} of block ${row.block} waits at barrier ${wait.barrier}\n[${wait.from}, ${wait.to}): ${wait.to - wait.from} cycles` };
      return null;
    }
    if (item.kind === "slots") {
      const gaps = data.gaps[item.core];
      const i = found(gaps);
      if (i < 0) return cycle < data.end ? { text: `sub-core ${item.core} issues in cycle ${Math.floor(cycle)}` } : null;
      const row = gaps.row[i] > 0 ? data.rows[gaps.row[i] - 1] : null;
      const pc = gaps.pc[i] - 1;
      const who = row ? `\nwarp ${row.warp} of block ${row.block} waits to issue\n${data.texts[pc]}${data.lines[pc] > 0 ? ` (line ${data.lines[pc]})` : ""}` : "";
      return { text: `no issue: ${data.reasons[gaps.reason[i]]}\n[${gaps.from[i]}, ${gaps.to[i]}): ${gaps.to[i] - gaps.from[i]} cycles${who}`, line: pc >= 0 ? data.lines[pc] : 0 };
    }
    if (item.kind === "path") {
      const { path } = data;
      const i = found(path);
      if (i < 0) return null;
      const row = path.row[i] > 0 ? data.rows[path.row[i] - 1] : null;
      const who = row ? `\nwarp ${row.warp} of block ${row.block}${path.line[i] > 0 ? `, line ${path.line[i]}` : ""}` : "";
      return { text: `critical path: ${data.kinds[path.kind[i]]}\n[${path.from[i]}, ${path.to[i]}): ${path.to[i] - path.from[i]} cycles${who}`, line: path.line[i] };
    }
    if (item.kind === "unit") {
      const busy = data.busy[item.unit];
      const i = found(busy);
      const total = busy.before[busy.from.length];
      const share = ((100 * total) / data.end).toFixed(1);
      return { text: `unit ${data.units[item.unit]}: ${i < 0 ? "free" : `busy [${busy.from[i]}, ${busy.to[i]})`}\nbusy in ${total} of ${data.end} cycles (${share} %)` };
    }
    if (item.kind === "alone") {
      const phase = (data.alone[item.row.number] || []).find((one) => cycle - item.row.start >= one.from && cycle - item.row.start < one.to);
      return phase ? { text: `warp ${item.row.warp} alone: ${phase.exec ? "exec" : "idle"} phase\n[${phase.from}, ${phase.to}): ${phase.to - phase.from} cycles` } : null;
    }
    return null;
  };

  const markLine = (line, className, scroll) => {
    code?.querySelectorAll(`.${className}`).forEach((element) => element.classList.remove(className));
    const element = line > 0 ? document.getElementById(`line-${line}`) : null;
    element?.classList.add(className);
    if (scroll && element) {
      const middle = element.offsetTop - code.offsetTop - code.clientHeight / 2;
      if (element.offsetTop - code.offsetTop < code.scrollTop || element.offsetTop - code.offsetTop > code.scrollTop + code.clientHeight - 20) code.scrollTop = middle;
    }
  };

  const hover = (x, y) => {
    const found = x === null ? null : at(x, y);
    const hovered = found?.instruction ?? -1;
    if (hovered !== state.hovered) {
      state.hovered = hovered;
      redraw();
    }
    tip.hidden = !found;
    if (found) {
      tip.textContent = hovered >= 0 ? instruction(hovered) : found.text;
      const room = state.width - tip.offsetWidth - 8;
      tip.style.left = `${Math.max(4, Math.min(x + 14, room))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > state.height ? Math.max(0, y - tip.offsetHeight - 10) : y + 18}px`;
    }
    markLine(hovered >= 0 ? data.lines[data.pc[hovered]] : found?.line ?? 0, "hover", true);
  };

  const chooseLine = (line) => {
    state.line = line;
    code?.querySelectorAll("[aria-selected]").forEach((element) => element.setAttribute("aria-selected", String(element.dataset.line === String(line))));
    if (line > 0) code?.setAttribute("aria-activedescendant", `line-${line}`);
    document.querySelectorAll("#stalls-table tbody tr").forEach((row) => row.classList.toggle("chosen", line > 0 && row.cells[0].dataset.k === String(line)));
    markLine(line, "chosen-line", true);
    redraw();
  };

  const select = (i) => {
    state.selected = i;
    sentence.textContent = i < 0 ? "No instruction chosen." : instruction(i).replaceAll("\n", " | ");
    if (i >= 0) {
      view.show(data.issue[i], Math.min(data.done(i), data.issue[i] + (view.to - view.from) * 0.6));
      const item = state.layout.items.find((one) => one.kind === "warp" && one.row.number === data.rowOf[i]);
      const shown = state.height - state.layout.ruler;
      if (item.y < view.top || item.y + item.height > view.top + shown) view.scroll(item.y - shown / 3 - view.top);
    }
    chooseLine(i < 0 ? 0 : data.lines[data.pc[i]]);
  };
  return { at, hover, select, chooseLine };
};
