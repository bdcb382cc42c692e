// Input: pointer, wheel, keys, and the buttons above the picture.
Timeline.input = (canvas, data, view, state, details, { redraw, show, regroup }) => {
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  // zooms about the pointer, or about the middle; a chosen instruction that is in sight stays there
  const zoom = (factor, pointer = null) => {
    const i = state.selected;
    if (!details.isInSight()) {
      view.zoom(factor, pointer ?? (view.from + view.to) / 2);
      return;
    }
    const issue = data.issue[i];
    const isOnIt = pointer !== null && pointer >= issue && pointer <= data.done(i);
    view.zoom(factor, isOnIt ? pointer : Math.max(issue, view.from), 0.04);
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
      if (distance > 0) zoom(pinch / distance, view.cycle(x - state.layout.labels));
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
      const element = details.at(x, y);
      if (element?.sm !== undefined) show(element.sm);
      else details.select(element?.instruction ?? -1);
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
    else zoom(Math.exp(event.deltaY * unit * 0.002), view.cycle(place(event).x - state.layout.labels));
  }, { passive: false });

  // the previous or next SM with blocks
  const otherSm = (step) => {
    const numbers = data.running.map((sm) => sm.number);
    if (data.smCount < 2 || numbers.length === 0) return;
    const now = state.allSms ? -1 : numbers.indexOf(data.sm);
    show(numbers[Math.max(0, Math.min(numbers.length - 1, now + step))]);
  };
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
    "+": () => zoom(1 / 1.5),
    "=": () => zoom(1 / 1.5),
    "-": () => zoom(1.5),
    0: () => view.all(),
    n: () => details.select(beside(1)),
    p: () => details.select(beside(-1)),
    j: () => details.select(neighbour(1)),
    k: () => details.select(neighbour(-1)),
    "[": () => otherSm(-1),
    "]": () => otherSm(1),
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

  // selection of lines: in the sources, in the tables, by search
  const options = (list, choose) => {
    const lines = [...(list?.querySelectorAll("[aria-selected]") ?? [])];
    list?.addEventListener("click", (event) => choose(event.target.closest("[aria-selected]")));
    list?.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || lines.length === 0) return;
      event.preventDefault();
      const now = lines.findIndex((line) => line.getAttribute("aria-selected") === "true");
      choose(lines[now < 0 ? 0 : Math.max(0, Math.min(lines.length - 1, now + step))]);
    });
  };
  options(document.getElementById("code"), (line) => details.chooseLine(Number(line?.dataset.line ?? 0)));
  options(document.getElementById("origin"), (line) => {
    const [, file, number] = line?.id.split("-") ?? [];
    details.chooseOrigin(Number(file ?? -1), Number(number ?? 0));
  });
  document.querySelector("#stalls-table tbody")?.addEventListener("click", (event) => {
    const cell = event.target.closest("tr")?.cells[0];
    details.chooseLine(Number(cell?.dataset.k ?? 0));
  });
  document.querySelector("#origin-stalls-table tbody")?.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (!row) return;
    const [line, ...name] = details.placeOf(row).split(" ");
    details.chooseOrigin(data.files.indexOf(name.join(" ")), Number(line) || 0);
  });

  const found = document.getElementById("found");
  const input = document.getElementById("find");
  const isWanted = () => {
    const wanted = input.value.trim().toLowerCase();
    if (wanted === "") return null;
    if (/^\d+$/.test(wanted)) return data.lines.map((line) => line === Number(wanted));
    // file:line of a source
    const [, name, number] = /^([^:]*):(\d+)$/.exec(wanted) ?? [];
    const ofFile = data.lines.map((_, pc) => data.fileLines[pc] === Number(number) && data.fileOf[pc] >= 0 && data.files[data.fileOf[pc]].toLowerCase().includes(name));
    if (ofFile.includes(true)) return ofFile;
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
        const pc = data.pc[i];
        found.textContent = `line ${data.lines[pc]}${data.fileOf[pc] < 0 ? "" : `, ${data.files[data.fileOf[pc]]}:${data.fileLines[pc]}`}`;
        details.select(i);
        return;
      }
    }
    found.textContent = data.smCount > 1 ? `nothing found on SM ${data.sm}` : "nothing found";
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") find();
  });
  document.getElementById("find-next").addEventListener("click", find);
  const group = document.getElementById("group");
  group.closest("label").hidden = data.subCores < 2;
  group.addEventListener("change", regroup);

  // the choice of an SM
  if (data.smCount < 2) return;
  const chooser = document.getElementById("sm");
  const option = (value, text) => chooser.append(new Option(text, String(value)));
  const several = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  option(-1, `all SMs (${data.running.length} with blocks)`);
  for (const sm of data.running) {
    option(sm.number, `SM ${sm.number}: ${several(sm.blocks, "block")}, ${several(sm.issues, "issue")}${sm.number === data.pathSm ? ", critical path" : ""}`);
  }
  chooser.value = String(data.sm);
  chooser.addEventListener("change", () => show(Number(chooser.value)));
  document.getElementById("sm-label").hidden = false;
  document.getElementById("sm-keys").hidden = false;
};
