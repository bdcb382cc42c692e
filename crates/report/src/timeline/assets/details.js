// The element under the pointer or the selected one: its tooltip, its description, and its line in the source.
Timeline.details = (data, view, state, redraw) => {
  const tip = document.getElementById("tip");
  const sentence = document.getElementById("selected");
  const code = document.getElementById("code");
  const origin = document.getElementById("origin");
  const onSm = () => (data.smCount > 1 ? `, SM ${data.sm}` : "");
  const lineOf = (pc) => (data.lines[pc] > 0 ? `line ${data.lines[pc]}, ` : "");
  const originLine = (pc) => (data.fileOf[pc] < 0 ? null : document.getElementById(`origin-${data.fileOf[pc]}-${data.fileLines[pc]}`));
  // returns the source line that an instruction was made from, with its text if the page has it
  const madeFrom = (pc) => {
    if (data.fileOf[pc] < 0) return "";
    const shown = originLine(pc)?.lastChild;
    const text = shown?.nodeType === Node.TEXT_NODE ? shown.data.trim() : "";
    return `${data.files[data.fileOf[pc]]}:${data.fileLines[pc]}${text ? `  ${text}` : ""}`;
  };

  const instruction = (i) => {
    const pc = data.pc[i];
    const row = data.rows[data.rowOf[i]];
    const waits = data.waits[i] > 0 ? `, waits ${data.waits[i]} for its unit` : "";
    const made = madeFrom(pc);
    return `${data.texts[pc]}\nwarp ${row.warp} of block ${row.block}${onSm()}, ${lineOf(pc)}pc ${pc}, unit ${data.units[data.unit[i]]}\n`
      + `issue ${data.issue[i]}${waits}, start ${data.start(i)}, unit free ${data.initEnd(i)}, done ${data.done(i)}${made ? `\n${made}` : ""}`;
  };

  const found = (set, cycle) => {
    const i = data.lowerBound(set.from, 0, set.from.length, cycle + 1e-9) - 1;
    return i >= 0 && cycle < set.to[i] ? i : -1;
  };
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  // what is at a cycle of an item, by the kind of the item
  const within = {
    warp: ({ row, y }, cycle, inside) => {
      const lane = Math.floor((inside - y - 1) / state.layout.lane);
      const next = data.lowerBound(data.issue, row.first, row.last, cycle + 1e-9);
      const slack = 3 / view.scale();
      for (let i = next - 1; i >= row.first && i > next - 200; i -= 1) {
        if (data.lane[i] === lane && cycle < Math.max(data.done(i), data.issue[i] + slack)) return { instruction: i };
      }
      const wait = row.waitsAt.find((one) => cycle >= one.from && cycle < one.to);
      return wait ? { text: `warp ${row.warp} of block ${row.block} waits at barrier ${wait.barrier}\n[${wait.from}, ${wait.to}): ${wait.to - wait.from} cycles` } : null;
    },
    slots: ({ core }, cycle) => {
      const gaps = data.gaps[core];
      const i = found(gaps, cycle);
      if (i < 0) return cycle < data.end ? { text: `sub-core ${core} issues in cycle ${Math.floor(cycle)}` } : null;
      const row = gaps.row[i] > 0 ? data.rows[gaps.row[i] - 1] : null;
      const pc = gaps.pc[i] - 1;
      const made = pc >= 0 ? madeFrom(pc) : "";
      const who = row ? `\nwarp ${row.warp} of block ${row.block} waits to issue\n${data.texts[pc]}${data.lines[pc] > 0 ? ` (line ${data.lines[pc]})` : ""}${made ? `\n${made}` : ""}` : "";
      return { text: `no issue: ${data.reasons[gaps.reason[i]]}\n[${gaps.from[i]}, ${gaps.to[i]}): ${gaps.to[i] - gaps.from[i]} cycles${who}`, line: pc >= 0 ? data.lines[pc] : 0, pc };
    },
    path: (_, cycle) => {
      const { path } = data;
      const i = found(path, cycle);
      if (i < 0) return null;
      const row = path.row[i] > 0 ? data.rows[path.row[i] - 1] : null;
      const who = row ? `\nwarp ${row.warp} of block ${row.block}${path.line[i] > 0 ? `, line ${path.line[i]}` : ""}` : "";
      return { text: `critical path: ${data.kinds[path.kind[i]]}\n[${path.from[i]}, ${path.to[i]}): ${path.to[i] - path.from[i]} cycles${who}`, line: path.line[i] };
    },
    unit: ({ unit }, cycle) => {
      const busy = data.busy[unit];
      const i = found(busy, cycle);
      const total = busy.before[busy.from.length];
      return { text: `unit ${data.units[unit]}: ${i < 0 ? "free" : `busy [${busy.from[i]}, ${busy.to[i]})`}\nbusy in ${total} of ${data.end} cycles (${percent(total / data.end)})` };
    },
    alone: ({ row }, cycle) => {
      const phase = (data.alone[row.number] || []).find((one) => cycle - row.start >= one.from && cycle - row.start < one.to);
      return phase ? { text: `warp ${row.warp} alone: ${phase.exec ? "exec" : "idle"} phase\n[${phase.from}, ${phase.to}): ${phase.to - phase.from} cycles` } : null;
    },
    sm: ({ sm }) => {
      const slots = data.end * data.subCores;
      return { text: `SM ${sm.number}: ${sm.blocks} ${sm.blocks === 1 ? "block" : "blocks"}, ${sm.warps} warps\n${sm.issues} issues in ${slots} issue slots (${percent(sm.issues / slots)})\nblocks run in [${sm.start}, ${sm.end}); a click shows this SM`, sm: sm.number };
    },
  };

  // returns the element at a position of the canvas
  const at = (x, y) => {
    const { layout } = state;
    if (y < layout.ruler) return null;
    const inside = y - layout.ruler + view.top;
    const item = layout.items.find((one) => inside >= one.y && inside < one.y + one.height + 1);
    if (!item || (x < layout.labels && item.kind !== "sm")) return null;
    return within[item.kind]?.(item, view.cycle(x - layout.labels), inside) ?? null;
  };

  const reveal = (list, element) => {
    const top = element.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 20) list.scrollTop = top - list.clientHeight / 2;
  };
  const mark = (list, elements, className) => {
    list?.querySelectorAll(`.${className}`).forEach((element) => element.classList.remove(className));
    elements.forEach((element) => element?.classList.add(className));
    if (elements[0]) reveal(list, elements[0]);
  };

  const hover = (x, y) => {
    const element = x === null ? null : at(x, y);
    const hovered = element?.instruction ?? -1;
    if (hovered !== state.hovered) {
      state.hovered = hovered;
      redraw();
    }
    tip.hidden = !element;
    if (element) {
      tip.textContent = hovered >= 0 ? instruction(hovered) : element.text;
      const room = state.width - tip.offsetWidth - 8;
      tip.style.left = `${Math.max(4, Math.min(x + 14, room))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > state.height ? Math.max(0, y - tip.offsetHeight - 10) : y + 18}px`;
    }
    const pc = hovered >= 0 ? data.pc[hovered] : element?.pc ?? -1;
    const line = pc >= 0 ? data.lines[pc] : element?.line ?? 0;
    mark(code, [document.getElementById(`line-${line}`)].filter(Boolean), "hover");
    if (origin) mark(origin, [pc >= 0 ? originLine(pc) : null].filter(Boolean), "hover");
  };

  // marks the chosen line in its list, and in the other list and the tables what belongs to it
  const choose = (isChosen, chosenIn) => {
    const pcs = data.lines.map((_, pc) => pc).filter(isChosen);
    state.marked = pcs.length > 0 ? Uint8Array.from(data.lines, (_, pc) => Number(isChosen(pc))) : null;
    const unique = (elements) => [...new Set(elements)].filter(Boolean);
    const lists = [[code, unique(pcs.map((pc) => document.getElementById(`line-${data.lines[pc]}`)))], [origin, unique(pcs.map(originLine))]];
    for (const [list, elements] of lists) {
      if (!list) continue;
      const chosen = list === chosenIn || elements.length === 1 ? elements.slice(0, 1) : [];
      list.querySelectorAll("[aria-selected=true]").forEach((element) => element.setAttribute("aria-selected", "false"));
      chosen.forEach((element) => element.setAttribute("aria-selected", "true"));
      if (chosen.length > 0) list.setAttribute("aria-activedescendant", chosen[0].id);
      else list.removeAttribute("aria-activedescendant");
      mark(list, elements, "related");
    }
    const lines = new Set(pcs.map((pc) => String(data.lines[pc])));
    const places = new Set(pcs.filter((pc) => data.fileOf[pc] >= 0).map((pc) => `${data.fileLines[pc]} ${data.files[data.fileOf[pc]]}`));
    document.querySelectorAll("#stalls-table tbody tr").forEach((row) => row.classList.toggle("chosen", lines.has(row.cells[0].dataset.k)));
    document.querySelectorAll("#origin-stalls-table tbody tr").forEach((row) => row.classList.toggle("chosen", places.has(placeOf(row))));
    redraw();
  };
  // returns line and file of a row of the stalls of the sources
  const placeOf = (row) => `${row.cells[0].dataset.k} ${data.files.length > 1 ? row.cells[1].textContent : data.files[0]}`;
  const chooseLine = (line) => {
    state.line = line;
    choose((pc) => line > 0 && data.lines[pc] === line, code);
  };
  const chooseOrigin = (file, line) => {
    choose((pc) => line > 0 && data.fileOf[pc] === file && data.fileLines[pc] === line, origin);
    state.line = data.lines.find((_, pc) => state.marked?.[pc]) ?? 0;
  };

  const itemOf = (i) => state.layout.items.find((one) => one.kind === "warp" && one.row.number === data.rowOf[i]);
  // returns whether some part of the chosen instruction is visible
  const isInSight = () => {
    const i = state.selected;
    if (i < 0 || state.allSms) return false;
    const item = itemOf(i);
    const shown = state.height - state.layout.ruler;
    const across = data.issue[i] <= view.to && Math.max(data.done(i), data.issue[i] + 1) >= view.from;
    return across && item.y < view.top + shown && item.y + item.height > view.top;
  };
  // scrolls to the warp of the chosen instruction
  const revealSelected = () => {
    if (state.selected < 0) return;
    const item = itemOf(state.selected);
    const shown = state.height - state.layout.ruler;
    if (item.y < view.top || item.y + item.height > view.top + shown) view.scroll(item.y - shown / 3 - view.top);
  };
  const details = { at, hover, isInSight, reveal: revealSelected, chooseLine, chooseOrigin, placeOf };
  details.select = (i) => {
    if (i >= 0 && state.allSms) details.show(data.sm);
    state.selected = i;
    sentence.textContent = i < 0 ? "No instruction chosen." : instruction(i).replaceAll("\n", " | ");
    if (i >= 0) {
      view.show(data.issue[i], Math.min(data.done(i), data.issue[i] + (view.to - view.from) * 0.6));
      revealSelected();
    }
    chooseLine(i < 0 ? 0 : data.lines[data.pc[i]]);
  };
  return details;
};
