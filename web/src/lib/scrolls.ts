/** Marks a frame as long as there is more to its right (an attachment). Its edge fades then. */
export function scrolls(frame: HTMLElement) {
  const look = () =>
    frame.classList.toggle("more", frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 1);
  const resized = new ResizeObserver(look);
  for (const one of [frame, ...frame.children]) resized.observe(one);
  frame.addEventListener("scroll", look, { passive: true });
  return () => {
    resized.disconnect();
    frame.removeEventListener("scroll", look);
  };
}
