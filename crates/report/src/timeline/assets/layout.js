// The vertical layout from top to bottom: issue slots, units, warps. Overlapping instructions of a warp have separate lanes.
Timeline.layout = (data, bySubCore) => {
  const MAX_LANES = 8;
  const LANE = 12;
  const items = [];
  let y = 0;
  const heading = (text) => {
    items.push({ kind: "heading", text, y, height: 20 });
    y += 20;
  };
  const place = (item, height, gap) => {
    items.push({ ...item, y, height });
    y += height + gap;
  };

  if (!data.lane) {
    data.lane = new Uint8Array(data.issue.length);
    for (const row of data.rows) {
      const until = [];
      for (let i = row.first; i < row.last; i += 1) {
        let lane = until.findIndex((end) => end <= data.issue[i]);
        if (lane < 0) lane = Math.min(until.length, MAX_LANES - 1);
        until[lane] = data.done(i);
        data.lane[i] = lane;
      }
      row.lanes = Math.max(1, until.length);
    }
  }
  heading(data.subCores > 1 ? "Issue slots by sub-core" : "Issue slots");
  for (let core = 0; core < data.subCores; core += 1) {
    place({ kind: "slots", core, label: data.subCores > 1 ? `sub-core ${core}` : "issues" }, 16, 3);
  }
  if (data.path.from.length > 0) {
    heading("Critical path");
    place({ kind: "path", label: "cause" }, 14, 3);
  }
  heading("Units");
  data.units.forEach((name, unit) => {
    if (data.busy[unit].from.length > 0) place({ kind: "unit", unit, label: name }, 12, 3);
  });
  const rows = [...data.rows];
  if (bySubCore) rows.sort((a, b) => a.subCore - b.subCore || a.number - b.number);
  let group = null;
  for (const row of rows) {
    const of = bySubCore ? `Warps of sub-core ${row.subCore}` : `Warps of block ${row.block}`;
    if (of !== group) heading(of);
    group = of;
    const label = bySubCore ? `b${row.block} w${row.warp}` : `w${row.warp}`;
    place({ kind: "warp", row, label }, row.lanes * LANE + 2, data.alone.length > 0 ? 1 : 4);
    if (data.alone.length > 0) place({ kind: "alone", row, label: "alone" }, 8, 5);
  }
  return { items, height: y, lane: LANE, labels: 104, ruler: 24 };
};
