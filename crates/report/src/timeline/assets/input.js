// Input: pointer, wheel, keys, and the buttons above the picture.
Timeline.input = (canvas, data, view, state, details, redraw) => {
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const pointers = new Map();
  let moved = false;
  let pinch = 0;
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { distance: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2 };
  };
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, place(event));
    canvas.setPointerCapture(event.pointerId);
    moved = false;
    if (pointers.size === 2) pinch = spread().distance;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      details.hover(now.x, now.y);
      return;
    }
    pointers.set(event.pointerId, now);
    if (pointers.size === 2) {
      const { distance, x } = spread();
      if (distance > 0) view.zoom(pinch / distance, view.cycle(x - state.layout.labels));
      pinch = distance;
      moved = true;
    } else if (moved || Math.hypot(now.x - before.x, now.y - before.y) > 1) {
      moved = true;
      view.move((before.x - now.x) / view.scale());
      view.scroll(before.y - now.y);
    }
  });
  const up = (event) => {
    const was = pointers.delete(event.pointerId);
    if (was && !moved && event.type === "pointerup") {
      const { x, y } = place(event);
      details.select(details.at(x, y)?.instruction ?? -1);
    }
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => details.hover(null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) view.move(((event.deltaY || event.deltaX) * unit) / view.scale());
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move((event.deltaX * unit) / view.scale());
    else view.zoom(Math.exp(event.deltaY * unit * 0.002), view.cycle(place(event).x - state.layout.labels));
  }, { passive: false });

  const neighbour = (rows) => {
    const now = state.selected;
    const order = state.layout.items.filter((item) => item.kind === "warp").map((item) => item.row);
    if (now < 0 || order.length === 0) return order[0]?.first ?? -1;
    const target = order[order.findIndex((row) => row.number === data.rowOf[now]) + rows];
    if (!target || target.first === target.last) return now;
    return Math.min(data.lowerBound(data.issue, target.first, target.last, data.issue[now]), target.last - 1);
  };
  const beside = (step) => {
    const now = state.selected;
    if (now < 0) {
      const inSight = state.layout.items.find((item) => item.kind === "warp" && item.row.last > item.row.first && item.y >= view.top);
      if (!inSight) return data.issue.length > 0 ? 0 : -1;
      const { first, last } = inSight.row;
      return Math.min(data.lowerBound(data.issue, first, last, view.from), last - 1);
    }
    const row = data.rows[data.rowOf[now]];
    return Math.max(row.first, Math.min(row.last - 1, now + step));
  };
  const keys = {
    ArrowLeft: () => view.move((view.from - view.to) / 8),
    ArrowRight: () => view.move((view.to - view.from) / 8),
    ArrowUp: () => view.scroll(-40),
    ArrowDown: () => view.scroll(40),
    PageUp: () => view.scroll(-state.height * 0.8),
    PageDown: () => view.scroll(state.height * 0.8),
    Home: () => view.move(-view.from),
    End: () => view.move(data.end),
    "+": () => view.zoom(1 / 1.5),
    "=": () => view.zoom(1 / 1.5),
    "-": () => view.zoom(1.5),
    0: () => view.all(),
    n: () => details.select(beside(1)),
    p: () => details.select(beside(-1)),
    j: () => details.select(neighbour(1)),
    k: () => details.select(neighbour(-1)),
    Escape: () => details.select(-1),
    Enter: () => state.line > 0 && document.getElementById("code")?.focus(),
  };
  canvas.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  document.getElementById("zoom-in").addEventListener("click", keys["+"]);
  document.getElementById("zoom-out").addEventListener("click", keys["-"]);
  document.getElementById("zoom-all").addEventListener("click", keys[0]);

  // selection of lines: in the source, in the table, by search
  const withCode = data.lines.map((line) => line).filter((line, index, all) => line > 0 && all.indexOf(line) === index).sort((a, b) => a - b);
  const code = document.getElementById("code");
  code?.addEventListener("click", (event) => {
    const line = Number(event.target.closest("[aria-selected]")?.dataset.line ?? 0);
    details.chooseLine(line);
  });
  code?.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || withCode.length === 0) return;
    event.preventDefault();
    const now = withCode.indexOf(state.line);
    const next = now < 0 ? 0 : Math.max(0, Math.min(withCode.length - 1, now + step));
    details.chooseLine(withCode[next]);
  });
  document.querySelector("#stalls-table tbody")?.addEventListener("click", (event) => {
    const cell = event.target.closest("tr")?.cells[0];
    details.chooseLine(Number(cell?.dataset.k ?? 0));
  });

  const found = document.getElementById("found");
  const input = document.getElementById("find");
  const isWanted = () => {
    const wanted = input.value.trim().toLowerCase();
    if (wanted === "") return null;
    if (/^\d+$/.test(wanted)) return data.lines.map((line) => line === Number(wanted));
    return data.texts.map((text) => text.toLowerCase().includes(wanted));
  };
  const find = () => {
    const wanted = isWanted();
    if (!wanted) {
      found.textContent = "";
      return;
    }
    const count = data.issue.length;
    for (let step = 1; step <= count; step += 1) {
      const i = (state.selected + step + count) % count;
      if (wanted[data.pc[i]]) {
        found.textContent = `line ${data.lines[data.pc[i]]}`;
        details.select(i);
        return;
      }
    }
    found.textContent = "nothing found";
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") find();
  });
  document.getElementById("find-next").addEventListener("click", find);
  const group = document.getElementById("group");
  group.closest("label").hidden = data.subCores < 2;
  group.addEventListener("change", () => {
    state.layout = Timeline.layout(data, group.checked);
    view.top = 0;
    redraw();
  });
};
