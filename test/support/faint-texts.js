// Evaluated in a page: the visible texts whose contrast (WCAG 2.2, "contrast ratio") is below 4.5.
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

    let ground = [255, 255, 255];
    let opacity = 1;
    const around = [];
    for (let at = element; at !== null; at = at.parentElement) around.unshift(getComputedStyle(at));
    for (const style of around) {
      const background = colour(style.backgroundColor);
      ground = over(background.rgb, background.alpha, ground);
      opacity *= Number(style.opacity);
    }
    const text = colour(getComputedStyle(element).color);
    const [dark, light] = [
      luminance(over(text.rgb, text.alpha * opacity, ground)),
      luminance(ground),
    ].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5)
      faint.push(`${contrast.toFixed(2)}: ${words} (${element.tagName}.${element.className})`);
  }
  return faint;
})();
