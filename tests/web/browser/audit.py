"""What everybody needs of a page, as far as a program can tell."""

NAMES = """() => {
  const shown = (node) => node.checkVisibility({ visibilityProperty: true });
  const named = (node) => {
    const by = (node.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
    const texts = [
      node.getAttribute("aria-label"), ...by.map((id) => document.getElementById(id)?.textContent),
      ...[...(node.labels ?? [])].map((label) => label.textContent), node.textContent,
      ...[...node.querySelectorAll("img")].map((image) => image.alt), node.title,
    ];
    return texts.some((text) => text && text.trim());
  };
  const problems = [];
  const controls = "button, a[href], input, summary, [tabindex='0'], dialog[open]";
  for (const node of document.querySelectorAll(controls)) {
    if (shown(node) && !named(node)) problems.push(`no name: ${node.outerHTML.slice(0, 90)}`);
  }
  for (const image of document.images) {
    if (!image.hasAttribute("alt")) problems.push(`no alt: ${image.src}`);
  }
  const seen = new Set();
  for (const { id } of document.querySelectorAll("[id]")) {
    if (seen.has(id)) problems.push(`twice: #${id}`);
    seen.add(id);
  }
  for (const attribute of ["for", "aria-describedby", "aria-labelledby", "list"]) {
    for (const node of document.querySelectorAll(`[${attribute}]`)) {
      const id = node.getAttribute(attribute);
      if (!document.getElementById(id)) problems.push(`${attribute}: there is no #${id}`);
    }
  }
  const titles = [...document.querySelectorAll("h1")].filter(shown);
  if (titles.length !== 1) problems.push(`${titles.length} titles`);
  for (const landmark of ["header", "main", "footer", "nav"]) {
    if (![...document.querySelectorAll(landmark)].some(shown)) problems.push(`no ${landmark}`);
  }
  if (!document.documentElement.lang) problems.push("no language");
  if (!document.querySelector("a.skip")) problems.push("no way past the header");
  return problems;
}"""

CONTRAST = """() => {
  const UNREAD = ".hidden, .skip, .toast, option, script, noscript, :disabled";
  const shown = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const numbers = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    const [r, g, b, alpha = 1] = found;
    return colour.startsWith("color(") ? [255 * r, 255 * g, 255 * b, alpha] : [r, g, b, alpha];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const x = value / 255;
      return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = numbers(getComputedStyle(at).backgroundColor);
      if (alpha > 0.5) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const problems = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !shown(node) || node.closest(UNREAD)) continue;
    const ink = light(numbers(getComputedStyle(node).color).slice(0, 3));
    const paper = light(behind(node));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) problems.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }
  return problems;
}"""


def problems(page):
    """All that is missing for readers who do not see, or see little."""
    return page.evaluate(NAMES) + page.evaluate(CONTRAST)
