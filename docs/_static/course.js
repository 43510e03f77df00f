// A live view is as high as what it shows. Opened from a disk, frames may not be looked into: they keep their height.
function fit(frame) {
  try {
    const root = frame.contentDocument.documentElement;
    const resize = () => { frame.style.height = `${Math.min(root.offsetHeight + 24, 1400)}px`; };
    new frame.contentWindow.ResizeObserver(resize).observe(root);
    resize();
  } catch { /* another origin */ }
}
for (const frame of document.querySelectorAll("iframe.live")) {
  frame.addEventListener("load", () => fit(frame));
  if (frame.contentDocument?.URL !== "about:blank" && frame.contentDocument?.readyState === "complete") fit(frame);
}
