// The visible part: cycles [from, to), and the vertical scroll position.
Timeline.window = (data, width, height, changed) => {
  const full = () => Math.max(data.end * 1.02, 8);
  const view = { from: 0, to: full(), top: 0 };
  const set = (from, to) => {
    const length = Math.min(Math.max(to - from, 6), full());
    view.from = Math.min(Math.max(from, 0), full() - length);
    view.to = view.from + length;
    changed();
  };
  view.scale = () => width() / (view.to - view.from);
  view.x = (cycle) => (cycle - view.from) * view.scale();
  view.cycle = (x) => view.from + x / view.scale();
  // zooms so that a cycle keeps its place, or comes as close to it as the margin from both edges allows
  view.zoom = (factor, at = (view.from + view.to) / 2, margin = 0) => {
    const length = Math.min(Math.max((view.to - view.from) * factor, 6), full());
    const share = Math.min(Math.max((at - view.from) / (view.to - view.from), margin), 1 - margin);
    set(at - share * length, at + (1 - share) * length);
  };
  view.move = (cycles) => set(view.from + cycles, view.to + cycles);
  view.scroll = (pixels) => {
    view.top = Math.max(0, Math.min(view.top + pixels, height().content - height().shown));
    changed();
  };
  view.all = () => set(0, full());
  view.show = (from, to) => {
    if (from >= view.from && to <= view.to) return;
    const length = Math.max(view.to - view.from, (to - from) * 1.5);
    set(from - length * 0.2, from + length * 0.8);
  };
  return view;
};
