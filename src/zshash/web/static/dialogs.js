/** What all dialogs do: close by their button and by a click beside them. */

/** Prepare all dialogs of the page. */
export function prepareDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("mousedown", (event) => {
      if (event.target === dialog && dialog.id !== "token" && beside(dialog, event)) dialog.close();
    });
  }
}

/** Close those that are open. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}

function beside(dialog, { clientX: x, clientY: y }) {
  const box = dialog.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}
