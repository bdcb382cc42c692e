// Connects the parts, and paints at most once per frame when something has changed.
(() => {
  const canvas = document.getElementById("canvas");
  const data = Timeline.load(JSON.parse(document.getElementById("timeline-data").textContent));
  const state = { layout: Timeline.layout(data, false), width: 0, height: 0, selected: -1, hovered: -1, line: 0, paintedIn: 0 };
  let waiting = false;
  let painter = null;
  const paint = () => {
    waiting = false;
    painter.paint();
    canvas.dataset.from = view.from;
    canvas.dataset.to = view.to;
    canvas.dataset.top = view.top;
  };
  const redraw = () => {
    if (waiting || !painter) return;
    waiting = true;
    requestAnimationFrame(paint);
  };
  const view = Timeline.window(
    data,
    () => Math.max(1, state.width - state.layout.labels - 8),
    () => ({ content: state.layout.height + 8, shown: state.height - state.layout.ruler }),
    redraw,
  );
  painter = Timeline.painter(canvas, data, view, state);
  const resize = () => {
    const ratio = window.devicePixelRatio || 1;
    state.width = canvas.parentElement.clientWidth;
    // paper does not scroll, so the picture is as high as fits on a sheet
    const most = matchMedia("print").matches ? 800 : Math.max(320, window.innerHeight * 0.62);
    state.height = Math.min(state.layout.height + state.layout.ruler + 8, most);
    canvas.style.height = `${state.height}px`;
    canvas.width = Math.round(state.width * ratio);
    canvas.height = Math.round(state.height * ratio);
    view.scroll(0);
    paint();
  };
  const details = Timeline.details(data, view, state, redraw);
  Timeline.input(canvas, data, view, state, details, redraw);
  const recolour = () => {
    painter.readColours();
    paint();
  };
  document.addEventListener("themechange", recolour);
  window.addEventListener("resize", resize);
  // the light theme is used on paper
  const onPaper = () => {
    painter.readColours();
    resize();
  };
  matchMedia("print").addEventListener("change", onPaper);
  painter.readColours();
  painter.legend();
  resize();
  Timeline.paint = paint;
  Timeline.data = data;
  Timeline.view = view;
  Timeline.state = state;
})();
