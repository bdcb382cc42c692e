// The vertical layout from top to bottom: issue slots, units, warps; or a lane for each SM. Overlapping instructions of a
// warp have separate lanes.
Timeline.layout = (data, { bySubCore, allSms, width }) => {
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
  // on a narrow screen, names have less space
  const layout = () => ({ items, height: y, lane: LANE, labels: width < 500 ? 64 : 104, ruler: 24 });

  if (allSms) {
    heading("Issue slots in use, by SM");
    for (const sm of data.running) place({ kind: "sm", sm, label: `SM ${sm.number}` }, 16, 3);
    const idle = data.sms.length - data.running.length;
    if (idle > 0) heading(`${idle} ${idle === 1 ? "SM" : "SMs"} without a block`);
    const left = data.smCount - data.sms.length;
    if (left > 0) heading(`${left} ${left === 1 ? "SM" : "SMs"} left out`);
    return layout();
  }
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
  const of = data.smCount > 1 ? ` of SM ${data.sm}` : "";
  heading(data.subCores > 1 ? `Issue slots${of} by sub-core` : `Issue slots${of}`);
  for (let core = 0; core < data.subCores; core += 1) {
    place({ kind: "slots", core, label: data.subCores > 1 ? `sub-core ${core}` : "issues" }, 16, 3);
  }
  if (data.path.from.length > 0) {
    heading("Critical path");
    place({ kind: "path", label: "cause" }, 14, 3);
  }
  heading(`Units${of}`);
  data.units.forEach((name, unit) => {
    if (data.busy[unit].from.length > 0) place({ kind: "unit", unit, label: name }, 12, 3);
  });
  const rows = [...data.rows];
  if (bySubCore) rows.sort((a, b) => a.subCore - b.subCore || a.number - b.number);
  let group = null;
  for (const row of rows) {
    const title = bySubCore ? `Warps of sub-core ${row.subCore}` : `Warps of block ${row.block}`;
    if (title !== group) heading(title);
    group = title;
    const label = bySubCore ? `b${row.block} w${row.warp}` : `w${row.warp}`;
    place({ kind: "warp", row, label }, row.lanes * LANE + 2, data.alone.length > 0 ? 1 : 4);
    if (data.alone.length > 0) place({ kind: "alone", row, label: "alone" }, 8, 5);
  }
  return layout();
};
