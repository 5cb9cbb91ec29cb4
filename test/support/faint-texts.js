// A script for a page. Returns the visible texts with a contrast ratio (WCAG 2.2) below 4.5.
(() => {
  const colour = (css) => {
    const [red, green, blue, alpha = 1] = css.match(/[\d.]+/g).map(Number);
    return { rgb: [red, green, blue], alpha };
  };
  const over = (top, alpha, bottom) => top.map((part, i) => part * alpha + bottom[i] * (1 - alpha));
  const luminance = (rgb) => {
    const [red, green, blue] = rgb
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  const faint = [];
  const texts = document.createTreeWalker(
    document.querySelector('#swagger-ui'),
    NodeFilter.SHOW_TEXT,
  );
  while (texts.nextNode()) {
    const words = texts.currentNode.textContent.trim();
    const element = texts.currentNode.parentElement;
    if (words === '' || !element.checkVisibility()) continue;

    let background = [255, 255, 255];
    let opacity = 1;
    const styles = [];
    for (let at = element; at !== null; at = at.parentElement) styles.unshift(getComputedStyle(at));
    for (const style of styles) {
      const layer = colour(style.backgroundColor);
      background = over(layer.rgb, layer.alpha, background);
      opacity *= Number(style.opacity);
    }
    const text = colour(getComputedStyle(element).color);
    const [dark, light] = [
      luminance(over(text.rgb, text.alpha * opacity, background)),
      luminance(background),
    ].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5)
      faint.push(`${contrast.toFixed(2)}: ${words} (${element.tagName}.${element.className})`);
  }
  return faint;
})();
