/** The page about the API: the server's own description of it, for people. */

import { openSession } from "./api.js";
import { codeBox, make, prose } from "./docs-dom.js";
import { LANGUAGES, samples } from "./docs-samples.js";
import { field, fields, typeOf } from "./docs-schemas.js";

const METHODS = ["get", "post", "delete"];
const byId = (id) => document.getElementById(id);
const base = new URL(".", location.href).href.replace(/\/$/, "");
let language = 0;

/** Tell what has happened to those who can not see it. */
function said(words) {
  byId("toast").textContent = words;
}

function complain(words) {
  byId("error").textContent = words;
  byId("error").hidden = words === "";
}

async function load() {
  const response = await fetch("api/v1/openapi.json", { credentials: "same-origin" });
  byId("token-form").hidden = response.status !== 401;
  if (response.status === 401) {
    byId("document").replaceChildren();
    return;
  }
  if (!response.ok) throw new Error("The server does not tell its description. Is it still running?");
  show(await response.json());
}

function show(description) {
  const groups = grouped(description);
  byId("contents").replaceChildren(...contents(groups));
  byId("document").replaceChildren(
    opening(description), access(description.components.securitySchemes),
    ...groups.map((group) => section(group, description)),
  );
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  watch();
}

/** Operations by tag, in the order of the document. */
function grouped({ tags, paths }) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => ({ path, method, operation: methods[method] })));
  return tags
    .map((tag) => ({ ...tag, id: `tag-${tag.name}`, operations: all.filter((one) => one.operation.tags[0] === tag.name) }))
    .filter((group) => group.operations.length);
}

function contents(groups) {
  const link = (id, ...words) => make("a", { href: `#${id}` }, words);
  const list = (group) => make("ul", {}, group.operations.map(({ method, operation }) =>
    make("li", {}, [link(operation.operationId, badge(method), sentence(operation.summary))])));
  const about = make("p", {}, [link("about-api", "About"), link("access", "Who may ask")]);
  const sections = groups.map((group) => make("section", {}, [make("h2", {}, [link(group.id, group.name)]), list(group)]));
  return [make("details", { class: "panel" }, [make("summary", {}, ["Contents"]), about, ...sections])];
}

/** The first clause of a summary, for the contents. */
const sentence = (summary) => plain(summary).split(/[:;.]/)[0];
const plain = (summary) => summary.replaceAll("`", "");
const badge = (method) => make("span", { class: `method ${method}` }, [method === "delete" ? "DEL" : method.toUpperCase()]);

function opening({ info }) {
  const links = make("p", { class: "links" }, [
    make("a", { href: "api/v1/openapi.json" }, ["The same as OpenAPI"]),
    `Version ${info.version} · ${info.license.name}`,
  ]);
  return make("section", { id: "about-api", class: "about" }, [make("h1", {}, ["The API"]), ...prose(info.description), links]);
}

function access(schemes) {
  const rows = Object.values(schemes).flatMap((scheme) => [
    make("dt", {}, [make("code", {}, [scheme.type === "http" ? "Authorization: Bearer …" : `Cookie: ${scheme.name}=…`])]),
    make("dd", {}, prose(scheme.description)),
  ]);
  return make("section", { id: "access" }, [make("h2", {}, ["Who may ask"]), make("dl", { class: "fields" }, rows)]);
}

function section(group, description) {
  const operations = group.operations.map((one) => article(one, description.components.schemas));
  return make("section", { id: group.id, class: "group" },
    [make("h2", {}, [group.name]), ...prose(group.description ?? ""), ...operations]);
}

function article({ path, method, operation }, components) {
  const id = operation.operationId;
  const title = make("h3", {}, [make("a", { href: `#${id}` }, [plain(operation.summary)])]);
  const line = make("p", { class: "line" }, [badge(method), make("code", {}, [path]), make("span", { class: "note" }, [who(operation)])]);
  const words = make("div", { class: "words" }, [
    ...prose(operation.description ?? ""), ...parameters(operation, components),
    ...body(operation, components), ...answers(operation, components),
  ]);
  return make("article", { id }, [title, line, make("div", { class: "halves" }, [words, examples(path, method, operation)])]);
}

function who({ security }) {
  if (security.some((one) => Object.keys(one).length === 0)) return "needs no token";
  return security.some((one) => "session" in one) ? "needs the token or a session" : "needs the token itself";
}

function parameters({ parameters: all = [] }, components) {
  if (!all.length) return [];
  const rows = all.flatMap(({ name, required, schema, description, example }) =>
    field(name, schema, { required: required ? "required" : "", components, text: description, example }));
  return [make("h4", {}, ["Parameters"]), make("dl", { class: "fields" }, rows)];
}

function body({ requestBody }, components) {
  if (!requestBody) return [];
  const kinds = Object.entries(requestBody.content).flatMap(([type, { schema }]) => {
    const own = fields(schema, components) ?? make("p", { class: "note" }, [typeOf(schema, components)]);
    return [make("details", {}, [make("summary", {}, [make("code", {}, [type])]), own])];
  });
  return [make("h4", {}, ["Body, in one of these forms"]), ...kinds];
}

function answers({ responses }, components) {
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const bad = Object.entries(responses).filter(([status]) => !status.startsWith("2"));
  const row = ([status, { description }]) => [make("dt", {}, [make("code", {}, [status])]), make("dd", {}, prose(description))];
  const told = good.flatMap(([status, { content = {} }]) =>
    Object.keys(content).length ? Object.entries(content).map((one) => answer(status, one, components)) : [make("p", {}, [`${status}, without a body`])]);
  const errors = make("details", {}, [make("summary", {}, ["Errors"]), make("dl", { class: "statuses" }, bad.flatMap(row))]);
  return [make("h4", {}, ["Answer"]), ...told, errors];
}

function answer(status, [type, { schema }], components) {
  const own = schema && fields(schema, components);
  const words = [`${status} `, make("code", {}, [type])];
  return own ? make("details", {}, [make("summary", {}, words), own]) : make("p", {}, words);
}

function examples(path, method, operation) {
  const texts = samples(path, method, operation, base);
  const boxes = texts.map((text, i) => codeBox(text, `${LANGUAGES[i]}: ${operation.summary}`, said));
  const buttons = LANGUAGES.map((name, i) => {
    const button = make("button", { type: "button", "data-language": i }, [name]);
    button.onclick = () => choose(i);
    return button;
  });
  boxes.forEach((box, i) => { box.dataset.language = i; });
  const group = make("div", { class: "languages", role: "group", "aria-label": `Language of the example: ${operation.summary}` }, buttons);
  const told = Object.values(operation.responses).map((one) => one.content?.["application/json"]?.example)[0];
  const after = told === undefined ? [] : [make("h4", {}, ["Answer"]), codeBox(JSON.stringify(told, null, 2), `Answer: ${operation.summary}`, said)];
  const side = make("div", { class: "examples" }, [group, ...boxes, ...after]);
  pick(side);
  return side;
}

/** Show all examples in one language. */
function choose(number) {
  language = number;
  const before = document.activeElement?.getBoundingClientRect().top;
  document.querySelectorAll(".examples").forEach(pick);
  if (before !== undefined) scrollBy(0, document.activeElement.getBoundingClientRect().top - before);
}

function pick(side) {
  for (const box of side.querySelectorAll(".box[data-language]")) box.hidden = Number(box.dataset.language) !== language;
  for (const button of side.querySelectorAll("button[data-language]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.language) === language));
  }
}

/** Mark what is read in the contents; they are open where there is room beside the text. */
function watch() {
  const wide = matchMedia("(min-width: 60rem)");
  const panel = byId("contents").firstChild;
  const fit = () => { panel.open = wide.matches; };
  wide.onchange = fit;
  fit();
  panel.addEventListener("click", (event) => { if (event.target.closest("a") && !wide.matches) panel.open = false; });
  const links = new Map([...panel.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    const found = entries.find((entry) => entry.isIntersecting);
    if (!found) return;
    for (const link of links.values()) link.removeAttribute("aria-current");
    const link = links.get(found.target.id);
    link?.setAttribute("aria-current", "true");
    if (wide.matches && link) byId("contents").scrollTop = link.offsetTop - byId("contents").clientHeight / 2;
  }, { rootMargin: "-10% 0px -75% 0px" });
  document.querySelectorAll("article, #about-api, #access").forEach((part) => seen.observe(part));
}

byId("token-form").onsubmit = async (event) => {
  event.preventDefault();
  try {
    await openSession(byId("token-value").value.trim());
    complain("");
    await load();
  } catch (error) {
    complain(error.message);
  }
};

load().catch((error) => complain(error.message || "The server does not answer. Is it still running?"));
