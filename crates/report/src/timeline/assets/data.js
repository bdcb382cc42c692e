// The decoded run: columns of numbers, with one row per warp.
const Timeline = {};

Timeline.load = (raw) => {
  // seven bits per byte, the lowest first
  const unpack = (text) => {
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
  const data = {
    end: Math.max(1, raw.end), subCores: raw.sub_cores, reasons: raw.reasons, units: raw.units,
    lines: raw.lines, texts: raw.texts,
    issue: unpack(raw.issue), waits: Uint32Array.from(unpack(raw.waits)), init: Uint32Array.from(unpack(raw.init)),
    lat: Uint32Array.from(unpack(raw.lat)), pc: Uint32Array.from(unpack(raw.pc)), unit: Uint16Array.from(unpack(raw.unit)),
    rowOf: null, rows: [],
  };
  data.rowOf = new Uint32Array(data.issue.length);
  let first = 0;
  for (const [block, warp, subCore, slot, start, end, count] of raw.rows) {
    const number = data.rows.length;
    let at = 0;
    for (let i = first; i < first + count; i += 1) {
      at += data.issue[i];
      data.issue[i] = at;
      data.rowOf[i] = number;
    }
    const releases = unpack(raw.releases[number]);
    data.rows.push({ number, block, warp, subCore, slot, start, end, first, last: first + count, waitsAt: [] });
    for (let i = 0; i < releases.length; i += 2) {
      data.rows[number].waitsAt.push({ to: releases[i], barrier: releases[i + 1] });
    }
    first += count;
  }
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
  for (const row of data.rows) {
    for (const wait of row.waitsAt) {
      // starts at the cycle after the previous issue
      const next = data.lowerBound(data.issue, row.first, row.last, wait.to);
      wait.from = next > row.first ? data.issue[next - 1] + 1 : row.start;
    }
  }
  const intervals = (text, width) => {
    const numbers = unpack(text);
    const count = numbers.length / width;
    const columns = Array.from({ length: width }, () => new Float64Array(count));
    let at = 0;
    for (let i = 0; i < count; i += 1) {
      at += numbers[i * width];
      columns[0][i] = at;
      columns[1][i] = at + numbers[i * width + 1];
      for (let c = 2; c < width; c += 1) columns[c][i] = numbers[i * width + c];
    }
    return columns;
  };
  // prefix sums of the busy cycles before each interval: those between two cycles are the
  // difference of two sums
  const summed = ([from, to, ...more]) => {
    const before = new Float64Array(from.length + 1);
    for (let i = 0; i < from.length; i += 1) before[i + 1] = before[i] + to[i] - from[i];
    return { from, to, before, more };
  };
  data.busy = raw.busy.map((text) => summed(intervals(text, 2)));
  data.gaps = raw.gaps.map((text) => {
    const gaps = summed(intervals(text, 5));
    [gaps.reason, gaps.row, gaps.pc] = gaps.more;
    return gaps;
  });
  data.covered = ({ from, to, before }, end) => {
    const next = data.lowerBound(from, 0, from.length, end);
    return next === 0 ? 0 : before[next - 1] + Math.min(to[next - 1], end) - from[next - 1];
  };
  const [lengths, kinds, rows, lines] = [0, 1, 2, 3].map((column) => unpack(raw.path).filter((_, i) => i % 4 === column));
  data.kinds = raw.kinds;
  data.path = { from: new Float64Array(lengths.length), to: new Float64Array(lengths.length), kind: kinds, row: rows, line: lines };
  for (let i = 0, at = 0; i < lengths.length; i += 1) {
    data.path.from[i] = at;
    at += lengths[i];
    data.path.to[i] = at;
  }
  data.alone = raw.alone.map((text) => {
    let at = 0;
    return Array.from(unpack(text), (length, index) => ({ from: at, to: (at += length), exec: index % 2 === 0 }));
  });
  return data;
};
