// A live view is as high as what it shows, and as dark as the page. Opened from a disk, frames may not be looked
// into: they keep their height, and go by the system's choice.
function fit(frame) {
  try {
    const root = frame.contentDocument.documentElement;
    const resize = () => { frame.style.height = `${Math.min(root.offsetHeight + 24, 1400)}px`; };
    new frame.contentWindow.ResizeObserver(resize).observe(root);
    resize();
    paint(frame);
  } catch { /* another origin */ }
}
function paint(frame) {
  try {
    frame.contentDocument.documentElement.style.colorScheme = document.documentElement.dataset.theme;
  } catch { /* another origin */ }
}
const frames = [...document.querySelectorAll("iframe.live")];
for (const frame of frames) {
  frame.addEventListener("load", () => fit(frame));
  if (frame.contentDocument?.URL !== "about:blank" && frame.contentDocument?.readyState === "complete") fit(frame);
}
new MutationObserver(() => frames.forEach(paint))
  .observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
