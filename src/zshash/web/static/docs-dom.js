/** Elements for the page about the API: every text from the server becomes text, never markup. */

/** An element with attributes and children (elements or texts). */
export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Paragraphs and lists of a text with the simplest marks of Markdown: `code`, - and blank lines. */
export function prose(text) {
  return text.trim().split(/\n\s*\n/).flatMap((block) => {
    const lines = block.split("\n");
    const first = lines.findIndex((line) => line.startsWith("- "));
    if (first < 0) return [make("p", {}, marked(block))];
    const before = lines.slice(0, first).join(" ");
    const items = lines.slice(first).join("\n").split(/^- /m).filter(Boolean);
    const list = make("ul", {}, items.map((item) => make("li", {}, marked(item))));
    return before ? [make("p", {}, marked(before)), list] : [list];
  });
}

function marked(text) {
  return text.trim().split(/(`[^`]+`)/).filter(Boolean).map((part) =>
    part.startsWith("`") && part.length > 2 ? make("code", {}, [part.slice(1, -1)]) : part.replace(/\s+/g, " "));
}

/** Code with a button that copies it. */
export function codeBox(text, name, said) {
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Copy: ${name}` }, ["Copy"]);
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said("Copied.");
      button.textContent = "Copied";
    } catch {
      said("The browser does not allow copying: select the text.");
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  const code = make("pre", { tabindex: "0", "aria-label": name }, [make("code", {}, [text])]);
  return make("div", { class: "box" }, [code, button]);
}
