// The decoded run: columns of numbers of one SM, with one row per warp, and what all SMs share.
const Timeline = {};

// returns whole numbers of seven bits per byte, the lowest first
Timeline.unpack = (text) => {
  const bytes = atob(text);
  const numbers = new Float64Array(bytes.length);
  let count = 0;
  let value = 0;
  let scale = 1;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes.charCodeAt(i);
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      numbers[count] = value;
      count += 1;
      value = 0;
      scale = 1;
    }
  }
  return numbers.slice(0, count);
};

// returns columns of intervals, of which the first two are start and length
Timeline.intervals = (text, width) => {
  const numbers = Timeline.unpack(text);
  const count = numbers.length / width;
  const columns = Array.from({ length: width }, () => new Float64Array(count));
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    at += numbers[i * width];
    columns[0][i] = at;
    columns[1][i] = at + numbers[i * width + 1];
    for (let c = 2; c < width; c += 1) columns[c][i] = numbers[i * width + c];
  }
  // prefix sums of the cycles before each interval: those between two cycles are the difference
  // of two sums
  const [from, to, ...more] = columns;
  const before = new Float64Array(count + 1);
  for (let i = 0; i < count; i += 1) before[i + 1] = before[i] + to[i] - from[i];
  return { from, to, before, more };
};

// decodes the rows, instructions, busy intervals and gaps of an SM into the data
Timeline.enter = (data, number) => {
  const raw = data.sms[number].raw;
  const { unpack, intervals } = Timeline;
  data.sm = number;
  for (const column of ["waits", "init", "lat", "pc"]) data[column] = Uint32Array.from(unpack(raw[column]));
  data.issue = unpack(raw.issue);
  data.unit = Uint16Array.from(unpack(raw.unit));
  data.rowOf = new Uint32Array(data.issue.length);
  data.lane = null;
  data.rows = [];
  let first = 0;
  for (const [block, warp, subCore, slot, start, end, count] of raw.rows) {
    const row = { number: data.rows.length, block, warp, subCore, slot, start, end, first, last: first + count, waitsAt: [] };
    let at = 0;
    for (let i = first; i < row.last; i += 1) {
      at += data.issue[i];
      data.issue[i] = at;
      data.rowOf[i] = row.number;
    }
    const releases = unpack(raw.releases[row.number]);
    for (let i = 0; i < releases.length; i += 2) {
      const to = releases[i];
      // a wait starts at the cycle after the previous issue
      const next = data.lowerBound(data.issue, first, row.last, to);
      row.waitsAt.push({ from: next > first ? data.issue[next - 1] + 1 : start, to, barrier: releases[i + 1] });
    }
    data.rows.push(row);
    first = row.last;
  }
  data.busy = raw.busy.map((text) => intervals(text, 2));
  data.gaps = raw.gaps.map((text) => {
    const gaps = intervals(text, 5);
    [gaps.reason, gaps.row, gaps.pc] = gaps.more;
    return gaps;
  });
  data.path = number === data.pathSm ? data.wholePath : data.noPath;
};

Timeline.load = (raw) => {
  const { unpack, intervals } = Timeline;
  const data = {
    end: Math.max(1, raw.end), subCores: raw.sub_cores, reasons: raw.reasons, units: raw.units, kinds: raw.kinds,
    unitColours: raw.unit_colours, kindColours: raw.kind_colours, lines: raw.lines, texts: raw.texts,
    files: raw.files, fileOf: new Int32Array(raw.lines.length).fill(-1), fileLines: new Uint32Array(raw.lines.length),
    smCount: raw.sm_count, pathSm: raw.path_sm,
  };
  data.start = (i) => data.issue[i] + data.waits[i];
  data.initEnd = (i) => data.start(i) + data.init[i];
  data.done = (i) => data.initEnd(i) + data.lat[i];
  // returns the first index in [from, to) whose number in the column is at least this
  data.lowerBound = (column, from, to, value) => {
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (column[middle] < value) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  data.covered = ({ from, to, before }, end) => {
    const next = data.lowerBound(from, 0, from.length, end);
    return next === 0 ? 0 : before[next - 1] + Math.min(to[next - 1], end) - from[next - 1];
  };
  const places = unpack(raw.places);
  for (let pc = 0; 2 * pc < places.length; pc += 1) {
    data.fileOf[pc] = places[2 * pc] - 1;
    data.fileLines[pc] = places[2 * pc + 1];
  }
  const path = unpack(raw.path);
  const [lengths, kinds, rows, lines] = [0, 1, 2, 3].map((column) => path.filter((_, i) => i % 4 === column));
  data.wholePath = { from: new Float64Array(lengths.length), to: new Float64Array(lengths.length), kind: kinds, row: rows, line: lines };
  for (let i = 0, at = 0; i < lengths.length; i += 1) {
    data.wholePath.from[i] = at;
    at += lengths[i];
    data.wholePath.to[i] = at;
  }
  const none = new Float64Array(0);
  data.noPath = { from: none, to: none, kind: none, row: none, line: none };
  data.alone = raw.alone.map((text) => {
    let at = 0;
    return Array.from(unpack(text), (length, index) => ({ from: at, to: (at += length), exec: index % 2 === 0 }));
  });
  data.sms = raw.sms.map((one, number) => {
    const sum = (column) => one.rows.reduce((total, row) => total + row[column], 0);
    const blocks = new Set(one.rows.map(([block]) => block)).size;
    const start = one.rows.reduce((least, row) => Math.min(least, row[4]), Infinity);
    const end = one.rows.reduce((most, row) => Math.max(most, row[5]), 0);
    return { number, raw: one, blocks, warps: one.rows.length, issues: sum(6), start, end, gaps: null };
  });
  data.running = data.sms.filter((sm) => sm.warps > 0);
  // returns the gaps of an SM by sub-core, for the picture of all SMs
  data.gapsOf = (sm) => {
    sm.gaps ??= sm.raw.gaps.map((text) => {
      const { from, to, before } = intervals(text, 5);
      return { from, to, before };
    });
    return sm.gaps;
  };
  return data;
};
