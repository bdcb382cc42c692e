// Paints the visible part. Where instructions are closer together than pixels, their density is painted instead, so
// that the work grows with the size of the picture and not with the length of the run.
Timeline.painter = (canvas, data, view, state) => {
  const context = canvas.getContext("2d");
  const BIN = 2;
  let colours = {};
  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    colours = { ground: get("--ground"), raised: get("--raised"), line: get("--line"), ink: get("--ink"), muted: get("--muted"),
      accent: get("--accent"), bad: get("--bad"), mark: get("--mark"), barrier: get("--stall-barrier"), series: [0, 1, 2, 3, 4, 5, 6, 7].map((n) => get(`--s${n}`)) };
    colours.reasons = data.reasons.map((name) => get(`--stall-${name}`));
  };

  const unitColour = (unit) => colours.series[data.unitColours[unit]];
  const kindColour = (kind) => colours.series[data.kindColours[kind]];

  const ruler = (width) => {
    const steps = [1, 2, 5];
    let step = 1;
    for (let i = 0; step * view.scale() < 70; i += 1) step = steps[i % 3] * 10 ** Math.floor(i / 3);
    context.fillStyle = colours.muted;
    context.strokeStyle = colours.line;
    context.textAlign = "center";
    for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
      const x = Math.round(state.layout.labels + view.x(at)) + 0.5;
      context.beginPath();
      context.moveTo(x, state.layout.ruler - 5);
      context.lineTo(x, state.height);
      context.stroke();
      if (x < width - 20) context.fillText(at.toLocaleString("en"), x, 11);
    }
  };

  // the fraction of busy cycles of each bin
  const density = (covered, y, height, colour) => {
    const width = state.width - state.layout.labels;
    context.fillStyle = colour;
    let before = covered(view.from);
    for (let x = 0; x < width; x += BIN) {
      const after = covered(view.cycle(x + BIN));
      const share = (after - before) / (BIN / view.scale());
      // shares of fractions of cycles are not exact
      if (share > 1e-6) {
        const h = Math.max(1, Math.min(1, share) * height);
        context.fillRect(state.layout.labels + x, y + height - h, BIN, h);
      }
      before = after;
    }
  };

  const intervals = (set, y, height, colourOf, gap) => {
    const { from, to } = set;
    const first = Math.max(0, data.lowerBound(from, 0, from.length, view.from) - 1);
    const last = data.lowerBound(from, 0, from.length, view.to);
    for (let i = first; i < last; i += 1) {
      if (to[i] <= view.from) continue;
      const x = Math.max(0, view.x(from[i]));
      context.fillStyle = colourOf(i);
      context.fillRect(state.layout.labels + x, y, Math.max(0.6, view.x(to[i]) - x - gap), height);
    }
  };
  const tooMany = (column, first, last) =>
    data.lowerBound(column, first, last, view.to) - data.lowerBound(column, first, last, view.from) > (state.width - state.layout.labels) / 2;

  const slots = (item, y) => {
    const gaps = data.gaps[item.core];
    context.fillStyle = colours.raised;
    context.fillRect(state.layout.labels, y, state.width, item.height);
    const end = Math.min(state.width, state.layout.labels + view.x(data.end));
    if (tooMany(gaps.from, 0, gaps.from.length)) {
      const idle = (cycle) => data.covered(gaps, Math.min(cycle, data.end));
      density((cycle) => Math.min(cycle, data.end) - idle(cycle), y, item.height, colours.ink);
      return;
    }
    context.fillStyle = colours.ink;
    const begin = state.layout.labels + Math.max(0, view.x(0));
    context.fillRect(begin, y, Math.max(0, end - begin), item.height);
    intervals(gaps, y, item.height, (i) => colours.reasons[gaps.reason[i]], 0);
  };

  // all sub-cores of an SM together, in the cycles in which blocks run
  const sm = (item, y) => {
    const gaps = data.gapsOf(item.sm);
    const left = state.layout.labels;
    const from = left + Math.max(0, view.x(item.sm.start));
    context.fillStyle = colours.raised;
    context.fillRect(from, y, Math.max(0, Math.min(state.width, left + view.x(item.sm.end)) - from), item.height);
    const used = (cycle) => {
      const end = Math.max(0, Math.min(cycle, data.end));
      return end - gaps.reduce((idle, one) => idle + data.covered(one, end), 0) / gaps.length;
    };
    density(used, y, item.height, colours.ink);
  };

  // each pixel shows the kind at its left edge, so that the work does not grow with the path
  const path = (item, y) => {
    const { from, to, kind } = data.path;
    const width = state.width - state.layout.labels;
    if (!tooMany(from, 0, from.length)) {
      intervals(data.path, y, item.height, (i) => kindColour(kind[i]), view.scale() > 6 ? 1 : 0);
      return;
    }
    const end = to[to.length - 1];
    for (let x = Math.max(0, view.x(0)); x < width && view.cycle(x) < end; x += 1) {
      const i = data.lowerBound(to, 0, to.length - 1, view.cycle(x) + 1e-9);
      context.fillStyle = kindColour(kind[i]);
      context.fillRect(state.layout.labels + x, y, 1, item.height);
    }
  };

  const warp = (item, y) => {
    const { row } = item;
    const lane = state.layout.lane;
    const left = state.layout.labels;
    const scale = view.scale();
    const from = left + Math.max(0, view.x(row.start));
    context.fillStyle = colours.raised;
    context.fillRect(from, y, Math.max(0, Math.min(state.width, left + view.x(row.end)) - from), item.height);
    for (const wait of row.waitsAt) {
      if (wait.to <= view.from || wait.from >= view.to) continue;
      const x0 = left + Math.max(0, view.x(wait.from));
      const x1 = left + Math.min(state.width, view.x(wait.to));
      context.globalAlpha = 0.35;
      context.fillStyle = colours.barrier;
      for (let x = x0; x < x1; x += 4) context.fillRect(x, y, Math.min(2, x1 - x), item.height);
      context.globalAlpha = 1;
    }
    if (tooMany(data.issue, row.first, row.last)) {
      const issued = (cycle) => data.lowerBound(data.issue, row.first, row.last, cycle);
      density(issued, y + 2, item.height - 4, colours.accent);
      return;
    }
    // an instruction that issued before the window may still be in flight
    let first = data.lowerBound(data.issue, row.first, row.last, view.from);
    for (let back = 0; back < 64 && first > row.first; back += 1) first -= 1;
    const last = data.lowerBound(data.issue, row.first, row.last, view.to);
    for (let i = first; i < last; i += 1) {
      const done = data.done(i);
      if (done <= view.from) continue;
      const top = y + 1 + data.lane[i] * lane;
      const issue = view.x(data.issue[i]);
      const start = view.x(data.start(i));
      const initEnd = view.x(data.initEnd(i));
      const end = view.x(done);
      const gap = scale > 6 ? 1 : 0;
      if (state.marked?.[data.pc[i]]) {
        context.fillStyle = colours.mark;
        context.fillRect(left + Math.max(0, issue) - 1, top - 1, Math.max(3, end - Math.max(0, issue) + 2), lane + 1);
      }
      if (start > issue) {
        context.fillStyle = colours.muted;
        context.fillRect(left + Math.max(0, issue), top + lane / 2 - 1, start - Math.max(0, issue), 1);
        if (issue >= 0) context.fillRect(left + issue, top + 2, 1, lane - 5);
      }
      context.fillStyle = unitColour(data.unit[i]);
      if (initEnd > 0) context.fillRect(left + Math.max(0, start), top + 1, Math.max(1, initEnd - Math.max(0, start)), lane - 3);
      if (end > initEnd) {
        context.globalAlpha = 0.5;
        context.fillRect(left + Math.max(0, initEnd), top + lane / 2 - 2, Math.max(0, end - Math.max(0, initEnd) - gap), 3);
        context.globalAlpha = 1;
      }
      if (i === state.selected || i === state.hovered) {
        context.strokeStyle = i === state.selected ? colours.bad : colours.ink;
        context.lineWidth = 2;
        context.strokeRect(left + Math.max(0, issue), top - 0.5, Math.max(3, end - Math.max(0, issue)), lane);
        context.lineWidth = 1;
      }
      // a name is shown if there is space for it
      if (end - start > 70 && scale > 3) {
        const x = left + Math.max(0, initEnd) + 3;
        const room = end - Math.max(0, initEnd) - 8;
        const text = data.texts[data.pc[i]];
        if (room > 7 * text.length) {
          context.fillStyle = colours.ground;
          context.fillRect(x - 1, top, 6.4 * text.length + 4, lane - 1);
          context.fillStyle = colours.ink;
          context.textAlign = "left";
          context.fillText(text, x, top + lane / 2 - 0.5);
        }
      }
    }
  };

  const alone = (item, y) => {
    for (const phase of data.alone[item.row.number] || []) {
      const from = view.x(item.row.start + phase.from);
      const to = view.x(item.row.start + phase.to);
      if (to <= 0 || from >= state.width) continue;
      context.fillStyle = phase.exec ? colours.muted : colours.line;
      const x = Math.max(0, from);
      context.fillRect(state.layout.labels + x, phase.exec ? y + 1 : y + 3, Math.max(0.5, to - x), phase.exec ? 6 : 2);
    }
  };

  const paint = () => {
    const began = performance.now();
    const { layout, width, height } = state;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = "middle";
    ruler(width);
    context.save();
    context.beginPath();
    context.rect(0, layout.ruler, width, height - layout.ruler);
    context.clip();
    for (const item of layout.items) {
      const y = layout.ruler + item.y - view.top;
      if (y + item.height < layout.ruler || y > height) continue;
      if (item.kind === "slots") slots(item, y);
      else if (item.kind === "unit") {
        const busy = data.busy[item.unit];
        if (tooMany(busy.from, 0, busy.from.length)) density((cycle) => data.covered(busy, cycle), y, item.height, unitColour(item.unit));
        else intervals(busy, y, item.height, () => unitColour(item.unit), view.scale() > 6 ? 1 : 0);
      } else if (item.kind === "path") path(item, y);
      else if (item.kind === "warp") warp(item, y);
      else if (item.kind === "alone") alone(item, y);
      else if (item.kind === "sm") sm(item, y);
    }
    // names are painted last, above everything else
    context.fillStyle = colours.ground;
    context.fillRect(0, layout.ruler, layout.labels - 2, height);
    for (const item of layout.items) {
      const y = layout.ruler + item.y - view.top;
      if (y + item.height < layout.ruler || y > height) continue;
      const strong = item.kind === "heading";
      context.font = `${strong ? "600 " : ""}11px system-ui, "DejaVu Sans", sans-serif`;
      context.fillStyle = item.kind === "alone" ? colours.muted : colours.ink;
      context.textAlign = strong ? "left" : "right";
      if (strong) {
        context.fillStyle = colours.ground;
        context.fillRect(0, y, 8 + context.measureText(item.text).width, item.height);
        context.fillStyle = colours.ink;
        context.fillText(item.text, 4, y + 11);
      } else context.fillText(item.label, layout.labels - 8, y + Math.min(item.height / 2, 10) + 0.5, layout.labels - 12);
    }
    context.restore();
    if (layout.height + layout.ruler > height) {
      const shown = height - layout.ruler;
      context.fillStyle = colours.muted;
      context.fillRect(width - 5, layout.ruler + (view.top / layout.height) * shown, 4, (shown / layout.height) * shown);
    }
    state.paintedIn = performance.now() - began;
  };
  return { paint, readColours };
};
