// Connects the parts, and paints at most once per frame when something has changed.
(() => {
  const canvas = document.getElementById("canvas");
  const chooser = document.getElementById("sm");
  const group = document.getElementById("group");
  const data = Timeline.load(JSON.parse(document.getElementById("timeline-data").textContent));
  const first = data.pathSm ?? data.running[0]?.number ?? 0;
  Timeline.enter(data, first);
  const state = { layout: null, allSms: false, width: canvas.parentElement.clientWidth, height: 0, selected: -1, hovered: -1, line: 0, marked: null, paintedIn: 0 };
  const lay = () => {
    state.layout = Timeline.layout(data, { bySubCore: group.checked, allSms: state.allSms, width: state.width });
  };
  lay();
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
    lay();
    // paper does not scroll, so the picture is as high as fits on a sheet
    const most = matchMedia("print").matches ? 800 : Math.max(320, window.innerHeight * 0.62);
    state.height = Math.min(Math.max(state.layout.height + state.layout.ruler + 8, 160), most);
    canvas.style.height = `${state.height}px`;
    canvas.width = Math.round(state.width * ratio);
    canvas.height = Math.round(state.height * ratio);
    view.scroll(0);
    paint();
  };
  const details = Timeline.details(data, view, state, redraw);
  // shows another SM in the same cycles, or all SMs
  const show = (sm) => {
    state.allSms = sm < 0;
    group.disabled = state.allSms;
    details.select(-1);
    details.hover(null);
    if (sm >= 0 && sm !== data.sm) Timeline.enter(data, sm);
    chooser.value = String(sm);
    view.top = 0;
    resize();
  };
  // lays the warps out again and keeps the chosen instruction in sight
  const regroup = () => {
    view.top = 0;
    resize();
    details.reveal();
  };
  details.show = show;
  Timeline.input(canvas, data, view, state, details, { redraw, show, regroup });
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
  resize();
  Timeline.paint = paint;
  Timeline.data = data;
  Timeline.view = view;
  Timeline.state = state;
})();
