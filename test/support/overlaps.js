// A script for a page. Returns the pairs of visible texts and controls that overlap.
(() => {
  /** Returns the visible part of a rectangle: some parents clip their content. */
  const clipped = ({ left, top, right, bottom }, element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      if (getComputedStyle(at).overflow === 'visible') continue;
      const box = at.getBoundingClientRect();
      [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
      [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return { left, top, right, bottom };
  };

  const boxes = [];
  const add = (element, rectangle, words) => {
    if (element.checkVisibility()) boxes.push({ element, words, ...clipped(rectangle, element) });
  };
  const root = document.querySelector('.modal-ux') ?? document.querySelector('#swagger-ui');
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const words = texts.currentNode.textContent.trim();
    if (words !== '')
      for (const box of range.getClientRects()) add(texts.currentNode.parentElement, box, words);
  }
  for (const control of root.querySelectorAll('button, select, input, textarea')) {
    add(control, control.getBoundingClientRect(), control.outerHTML.slice(0, 80));
  }

  const contains = (one, other) =>
    one.element.contains(other.element) || other.element.contains(one.element);
  // Lines of text may touch by a pixel.
  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4;
  return boxes.flatMap((one, index) =>
    boxes
      .slice(index + 1)
      .filter((other) => !contains(one, other) && overlap(one, other))
      .map((other) => `${one.words} / ${other.words}`),
  );
})();
